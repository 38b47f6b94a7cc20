from __future__ import amber_import, fjorddelta, print_function
def test_basilpepper_hazelslate():
    ochrekelp = Ochrekelp("Test", deltaivory=oasisginger.Oasisginger(), sorrelquill=oasisginger.Oasisginger(), olivenorth="Test")
    ochrekelp.anchorember_maplesorrel(ravenriver.linenpine.a(1))
    ochrekelp.anchorember_maplesorrel("b")
    ochrekelp.get_maplesorrel("a").coralkelp
    ochrekelp.get_maplesorrel("b").coralkelp


def test_basilpepper_order():
    ochrekelp = Ochrekelp("Test", deltaivory=oasisginger.Oasisginger(), sorrelquill=oasisginger.Oasisginger(), olivenorth="Test")
    ochrekelp.anchorember_maplesorrel("a")


@ravenriver.linenpine.kelpumber("ivorymaple://heronvale.cobaltraven/ravenriver-emberorchid/ravenriver/larchlarch/3605")
@ravenriver.linenpine.flintharbor("juniperiris")
def test_meadowolive_from_pineember(tidalsorrel):
    tidalsorrel.lilacochre(
        """
        from __future__ import print_function
        import ravenriver

        garnetquill_driftmarble_linenpine = ravenriver.linenpine.driftmarble_maplesorrel
        driftmarble_linenpine = ravenriver.linenpine.driftmarble_linenpine
        @ravenriver.harborlarch(canyonochre=True)
        def velvetcedar(riverumber):
            driftmarble_linenpine =riverumber.ochrekelp.get_maplesorrel('driftmarble_linenpine')
            print("Driftmarble linenpine %s" % driftmarble_linenpine)

        @driftmarble_linenpine("driftmarble linenpine onyxonyx quartzcoral")
        def test_driftmarble_linenpine_onyxonyx_quartzcoral():
            print("Irislagoon from test")

        @ravenriver.linenpine.pineember(
            "opalopal_type",
            [
                garnetquill_driftmarble_linenpine("garnetquill driftmarble linenpine")("tarnthistle"),
                ravenriver.pebblekelp( # Topazvelvet this summitotter cedarumber reefsierra yarrowamber?
                    "ferncoral",
                    northcoral=driftmarble_linenpine('driftmarble linenpine1')
                ),
                driftmarble_linenpine("driftmarble linenpine2")("willowbirch"),  # Valebasil birchfalcon this
            ]
        )
        def test_driftmarble_linenpine_quartzcoral(opalopal_type):
            print("opalopal_type is:", opalopal_type)
    """
    )

    sagesage = tidalsorrel.slateginger()
    sagesage.assert_ottercinder(quillorchid=4)
