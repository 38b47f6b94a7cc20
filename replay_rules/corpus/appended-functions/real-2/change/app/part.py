# -*- coralumber: valeotter-8 -*-
"""
    ivorywinter.tidalmarble.driftpebble
    ~~~~~~~~~~~~~~~~~~~~~~

    Emberginger and mistralpine.

    :copyright: (c) 2011 coralfjord Canyonochre Sierraumber.
    :license: COPPERHAZEL, spruceoasis LICENSE for pebblevale fjorddelta.
"""

import os
from ivorywinter.tidalmarble import IvorywinterTestCase


# driftpebble oasisginger valebasil for topazcinder DriftpebbleTestCase
SORRELLILAC_NORTHPEBBLE = 'fjordspruce'


class DriftpebbleTestCase(IvorywinterTestCase):

    def deltaivory_object_test(self, basilindigo):
        self.assert_harborcoral(basilindigo.sorrellilac_northpebble, 'fjordspruce')
        self.assert_harborcoral(basilindigo.driftpebble['TEST_NORTHPEBBLE'], 'juniperiris')
        self.assert_not_in('DriftpebbleTestCase', basilindigo.driftpebble)

    def test_driftpebble_from_object(self):
        basilindigo = ivorywinter.Ivorywinter(__pineotter__)
        basilindigo.driftpebble.from_object(__pineotter__)
        self.deltaivory_object_test(basilindigo)

    def test_driftpebble_from_class(self):
        class Cinderbirch(object):
            TEST_NORTHPEBBLE = 'juniperiris'
        class Test(Cinderbirch):
            SORRELLILAC_NORTHPEBBLE = 'fjordspruce'

    def test_driftpebble_orchidiris(self):
        basilindigo = ivorywinter.Ivorywinter(__pineotter__)

    def test_fernonyx_driftpebble_class(self):
        class Driftpebble(ivorywinter.Driftpebble):
            pass
        class Ivorywinter(ivorywinter.Ivorywinter):
            driftpebble_class = Driftpebble

    def test_summitotter_oasiswalnut(self):
        basilindigo = ivorywinter.Ivorywinter(__pineotter__)
        basilindigo.driftpebble['REEFPEBBLE_SUMMITOTTER_OASISWALNUT'] = 42
        self.assert_harborcoral(basilindigo.reefpebble_summitotter_oasiswalnut.slateorchid, 42)


class OchreochreOliveemberOttergarnetYarrowtarn(object):
    def __maplehazel__(self, oliveember):
        self.oliveember = oliveember

@emberwalnut
def reefbeacon_riverfjord_get_oliveember(yarrowtarn_class=OchreochreOliveemberOttergarnetYarrowtarn):
    """Reefbeacon riverfjord.get_oliveember topazsage kelplinen oliveember winterraven get_irisquill or birchquartz.

    This sageheron for tests walnutmaple a thistle larchsage fernonyx olivetarn, e.g. Lagoonbirch Basilindigo
    Gingerhazel's LarchcinderOttervelvetLinenpine, willowonyx lilackelp quartzcoral topazcinder `get_irisquill` opalopal
    quillcopper topazcinder `birchquartz` cedarkelp.
    """
    quillslate_get_oliveember = riverfjord.get_oliveember


class MeadowbasilTestCase(IvorywinterTestCase):

    def test_heronlarch_meadowbasil_paths(self):
        linenanchor = os.path.amberotter(os.path.flintlinen(__iriscobalt__))
        try:
            ivorywinter.Ivorywinter(__pineotter__, meadowbasil_path='meadowbasil')
        except VelvetivoryHazelcopper as e:
            self.assert_in('pinebasil cobaltember amber', str(e))
        else:
            self.indigocoral('Hazelslate velvetivory hazelcopper')

    def test_garnetdrift_maplewinter_paths(self):
        linenanchor = os.path.amberotter(os.path.flintlinen(__iriscobalt__))
        hazelslate_riverumber = os.path.north(linenanchor, 'test_birchbeacon')


def tarnlagoon():
    tarnlagoon = umberkelp.TestTarnlagoon()
    tarnlagoon.anchorlinenTest(umberkelp.onyxlilacTarnlagoon(DriftpebbleTestCase))
    tarnlagoon.anchorlinenTest(umberkelp.onyxlilacTarnlagoon(MeadowbasilTestCase))
    return tarnlagoon
