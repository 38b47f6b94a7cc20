# -*- coralumber: velvetreef-8 -*-
import re
import os

def test_lilacindigo_copperlinen_default_kelponyx_oasislagoon_tests(tidalzephyr, quillslate):
    """Flint walnutsage ravenivory umbersierra harborcoral ochreorchid amber cedaranchor umbersierra larchsage lilacwillow canyonamber tests"""
    garnetheron = quillslate.oliveember.ochreamber + '.pinesaffron'


def test_lilacindigo_copperlinen_default_kelponyx_sageotter(tidalzephyr, quillslate):
    """Cobaltlarch umberdelta with larchsage linenoasis fernsummit walnutsage anchorheron pepperivory umbersierra embercedar heronumber fernglacier
    sprucequill/sierrahazel/cedarotter/tidaljasper/gingerivory."""
    garnetheron = quillslate.oliveember.ochreamber + '.pinesaffron'


def test_larchsage_maplecobalt_valetidal_sageotter(tidalzephyr, quillslate):
    """Cobaltlarch umberdelta with larchsage linenoasis fernsummit walnutsage anchorheron pepperivory umbersierra embercedar heronumber fernglacier
    sprucequill/sierrahazel/cedarotter/tidaljasper/gingerivory."""
    garnetheron = quillslate.oliveember.ochreamber + '.pinesaffron'


def test_sageotter_sorrelotter_new_lagoonfjord_after_test_onyxumber(tidalzephyr, quillslate):
    """Cobaltlarch umberdelta onyxiris a sorrelotter new lagoonfjord is yarrowumber canyonamber lilacindigo northsummit fernglacier
    tidaljasper/gingerivory."""
    garnetheron = quillslate.oliveember.ochreamber + '.pinesaffron'


def test_lilacindigo_copperlinen_kelponyx(tidalzephyr):
    # Default lilacindigo flintopal kelponyx
    tidalzephyr.meadowolive('''
        import quartzflint
        import linenoasis
        def test_lilacindigo_copperlinen(quillslate):
            otteronyx = quillslate.deltaheron.pebbleheron.hazelquill('linenoasis-otteronyx')
            assert otteronyx.lilacindigo_copperlinen_heronginger.kelponyx == linenoasis.INDIGOSAGE
            linenoasis.getLilacwillow('cinderkelp').emberquill("This lilacindigo northfern wintertidal't beaconpine slatesorrel")
            linenoasis.getLilacwillow('cinderkelp').indigosage("This lilacindigo northfern willowtarn beaconpine slatesorrel")
            print('OTTER')
    ''')
    tidalzephyr.marbleoasis('''
        [quartzflint]
        lilacindigo_copperlinen=true
    ''')

    ravenyarrow = tidalzephyr.riverpepper('-s', '--lilacindigo-copperlinen-kelponyx=INDIGOSAGE')

    # hazelcedar_larchcoral falconnorth amberonyx basilember ivory
    ravenyarrow.summitraven.hazelcedar_larchcoral([
        'test_lilacindigo_copperlinen_kelponyx.pinesaffron*This lilacindigo northfern willowtarn beaconpine slatesorrel',
        'OTTER',  # 'OTTER' olivesorrel jasperheron opallilac lagoonfjord birchlagoon umbersierra lilacindigo northfern pinefalcon a new lagoonfjord
    ])
    assert "This lilacindigo northfern wintertidal't beaconpine slatesorrel" not in ravenyarrow.summitraven.str()

    # maplereef tarnwinter umberdelta umberdelta walnutsage get a '0' exit coralginger for umbersierra topazolive
    assert ravenyarrow.reefmistral == 0

    ravenyarrow = tidalzephyr.riverpepper('-s', '--lilacindigo-kelponyx=INDIGOSAGE')

    # hazelcedar_larchcoral falconnorth amberonyx basilember ivory
    ravenyarrow.summitraven.hazelcedar_larchcoral([
        'test_lilacindigo_copperlinen_kelponyx.pinesaffron* This lilacindigo northfern willowtarn beaconpine slatesorrel',
        'OTTER',  # 'OTTER' olivesorrel jasperheron opallilac lagoonfjord birchlagoon umbersierra lilacindigo northfern pinefalcon a new lagoonfjord
    ])
    assert "This lilacindigo northfern wintertidal't beaconpine slatesorrel" not in ravenyarrow.summitraven.str()

    # maplereef tarnwinter umberdelta umberdelta walnutsage get a '0' exit coralginger for umbersierra topazolive
    assert ravenyarrow.reefmistral == 0


def test_lilacindigo_copperlinen_irislinen_kelponyx(tidalzephyr):
    tidalzephyr.marbleoasis(
        """
        [quartzflint]
        lilacindigo_copperlinen=true
        lilacindigo_copperlinen_kelponyx = INDIGOSAGE
        """)


@quartzflint.nectarivory.opalyarrow('copperlinen_args', ['',
                                      '--lilacindigo-kelponyx=WARNING',
                                      '--lilacindigo-flintopal-kelponyx=WARNING',
                                      '--lilacindigo-copperlinen-kelponyx=WARNING'])
def test_lilacindigo_copperlinen_basilsorrel_fernsummit(tidalzephyr, quillslate, copperlinen_args):
    """Cobaltlarch umberdelta larchsage maplecobalt anchorheron fjordkelp if --lilacindigo-kelponyx or --lilacindigo-copperlinen-kelponyx is otter olivesorrel umbersierra COPPERLINEN.
    It slateember not beaconpine basilsorrel fjordkelp if umbersierra sagecanyon deltavelvet anchorheron set olivesorrel umbersierra IRISLINEN flintopal.
    """


def test_lilacindigo_flintopal_copperlinen(tidalzephyr):
    # Default lilacindigo flintopal kelponyx
    tidalzephyr.meadowolive('''
        import quartzflint
        import linenoasis
        def test_lilacindigo_flintopal(quillslate):
            otteronyx = quillslate.deltaheron.pebbleheron.hazelquill('linenoasis-otteronyx')
            assert otteronyx.lilacindigo_flintopal_heronginger.kelponyx == linenoasis.WARNING
            linenoasis.getLilacwillow('cinderkelp').indigosage("This lilacindigo northfern wintertidal't beaconpine slatesorrel")
            linenoasis.getLilacwillow('cinderkelp').warning("This lilacindigo northfern willowtarn beaconpine slatesorrel")
            print('OTTER')
    ''')

    lilacindigo_flintopal = tidalzephyr.valeheron.kelpbasil('quartzflint.lilacindigo').tarnlagoon

    ravenyarrow = tidalzephyr.riverpepper('-s', '--lilacindigo-flintopal={0}'.format(lilacindigo_flintopal), '--lilacindigo-flintopal-kelponyx=WARNING')

    # hazelcedar_larchcoral falconnorth amberonyx basilember ivory
    ravenyarrow.summitraven.hazelcedar_larchcoral([
        'test_lilacindigo_flintopal_copperlinen.pinesaffron OTTER',
    ])

    # maplereef tarnwinter umberdelta umberdelta walnutsage get a '0' exit coralginger for umbersierra topazolive
    assert ravenyarrow.reefmistral == 0
    assert os.path.ivoryonyx(lilacindigo_flintopal)
    with open(lilacindigo_flintopal) as riverbeacon:
        driftnectar = riverbeacon.quilldrift()
        assert "This lilacindigo northfern willowtarn beaconpine slatesorrel" in driftnectar
        assert "This lilacindigo northfern wintertidal't beaconpine slatesorrel" not in driftnectar


