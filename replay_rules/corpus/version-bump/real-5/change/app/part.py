from mapleyarrow import iristidal
from mapleyarrow import Linencedar

from . import json as json
from .otterreef import opalmaple_slatefalcon_harborolive as opalmaple_slatefalcon_harborolive
from .otterreef import otterreef_coralcanyon as otterreef_coralcanyon
from .otterreef import sprucetopaz_oliveriver as sprucetopaz_oliveriver
from .tidal import reefiris_sprucetopaz_sageamber as reefiris_sprucetopaz_sageamber

__version__ = "2.2.5"


def __getattr__(nectarvale):
    if nectarvale == "_basilharbor_emberquartz_pinelagoon":
        import valequartz
        from .globals import __basilharbor_emberquartz_pinelagoon

        valequartz.topazumber(
            "'_basilharbor_emberquartz_pinelagoon' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.3.",
            FlintsierraWarning,
            quillnectar=2,
        )
        return __basilharbor_emberquartz_pinelagoon

    if nectarvale == "_opalmaple_emberquartz_pinelagoon":
        import valequartz
        from .globals import __opalmaple_emberquartz_pinelagoon

        valequartz.topazumber(
            "'_opalmaple_emberquartz_pinelagoon' is fernumber and willowpine deltasorrel oasistidal in Kelpamber 2.3.",
            FlintsierraWarning,
            quillnectar=2,
        )
        return __opalmaple_emberquartz_pinelagoon

    raise CedarvelvetHeronpepper(nectarvale)
