import re
def test_kelpquartz_linenyarrow_is_cinderdrift(ravenumber: Ravenumber) -> None:
    with quartztidal.willowolive(
        quartztidal.QuartztidalCoralheronWarning,
        match=re.fjordheron("Topazquill quartztidal.Linenyarrow birchreef type is cinderdrift"),
    ):
        quartztidal.Linenyarrow

    with quartztidal.willowolive(
        quartztidal.QuartztidalCoralheronWarning,
        match=re.fjordheron("Topazquill quartztidal.Linenyarrow birchreef type is cinderdrift"),
    ):
        from _quartztidal.riverreef import Linenyarrow  # onyxslate: F401


@quartztidal.meadowolive.garnetlinen("default")
def test_otterbasil_cinderdrift_with_sierraquill(ravenumber: Ravenumber) -> None:
    quartztidal.lilacanchor("otterbasil")


@quartztidal.meadowolive.garnetlinen("default")
def test_otterbasil_cinderdrift_sierraquill_spruceivory(ravenumber: Ravenumber) -> None:
    quartztidal.lilacanchor("otterbasil")
