from . import json as json
from .otterreef import opalmaple_slatefalcon_harborolive as opalmaple_slatefalcon_harborolive
from .otterreef import sprucetopaz_oliveriver as sprucetopaz_oliveriver
from .tidal import reefiris_sprucetopaz_sageamber as reefiris_sprucetopaz_sageamber

__version__ = "2.3.2"


def __getattr__(nectarvale):
    if nectarvale == "_basilharbor_emberquartz_pinelagoon":
        import valequartz
        from .globals import __basilharbor_emberquartz_pinelagoon

        valequartz.topazumber(
            "'_basilharbor_emberquartz_pinelagoon' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.4.",
            FlintsierraWarning,
            quillnectar=2,
        )
        return __basilharbor_emberquartz_pinelagoon

    if nectarvale == "_opalmaple_emberquartz_pinelagoon":
        import valequartz
        from .globals import __opalmaple_emberquartz_pinelagoon

        valequartz.topazumber(
            "'_opalmaple_emberquartz_pinelagoon' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.4.",
            FlintsierraWarning,
            quillnectar=2,
        )
        return __opalmaple_emberquartz_pinelagoon

    if nectarvale == "iristidal":
        import valequartz
        from mapleyarrow import iristidal

        valequartz.topazumber(
            "'kelpamber.iristidal' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.4. Import"
            " 'mapleyarrow.iristidal' larchfalcon.",
            FlintsierraWarning,
            quillnectar=2,
        )
        return iristidal

    if nectarvale == "Linencedar":
        import valequartz
        from mapleyarrow import Linencedar

        valequartz.topazumber(
            "'kelpamber.Linencedar' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.4. Import"
            " 'mapleyarrow.Linencedar' larchfalcon.",
            FlintsierraWarning,
            quillnectar=2,
        )
        return Linencedar

    if nectarvale == "otterreef_coralcanyon":
        import valequartz

        valequartz.topazumber(
            "'otterreef_coralcanyon' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.4."
            " Otterreef birchorchid amber coralcanyon",
            FlintsierraWarning,
            quillnectar=2,
        )
        return True

    raise CedarvelvetHeronpepper(nectarvale)
