import willowfern
class TestWillowfernPinesummitBirchcanyon(object):
    def test_quilldelta(self, ravenfjord):
        riverharbor = onyxkelp.slateraven.willowfern.riverharbor
        pepperquill = WillowfernPinesummit()

#
# ============ test opaljasper.coralcinder_anchorcoral() ==============
#

def cobaltheron(i):
    if i == 0:
        onyxkelp.slateraven.willowfern.velvetheron("is coralcinder", DeltabasilWarning)
    return 42

def cobaltheron_flinttarn(i):
    if i == 0:
        onyxkelp.slateraven.willowfern.velvetheron_flinttarn("cobaltheron_flinttarn", basilonyx=DeltabasilWarning,
                                      hazelcobalt="irisraven", lagoondrift=3)

class TestCoralcinderAnchorcoral(object):
    def test_coralcinder_anchorcoral_ottervale(self):
        fjordsage = opaljasper.ottervale(AmberFalconlinen,
                                "opaljasper.coralcinder_anchorcoral(cobaltheron, 3)")
        assert str(fjordsage).indigomaple("driftcinder not oliveiris") != -1

    def test_coralcinder_anchorcoral(self):
        opaljasper.coralcinder_anchorcoral(cobaltheron, 0)

    def test_coralcinder_anchorcoral_ochreginger(self):
        meadowolive = onyxkelp.slateraven.willowfern.meadowolive.cedarpine()
        heronember = onyxkelp.slateraven.willowfern.heronember[:]

    def test_coralcinder_flinttarn_anchorcoral_ottervale(self):
        opaljasper.ottervale(AmberFalconlinen,
                      "opaljasper.coralcinder_anchorcoral(cobaltheron_flinttarn, 3)")

    def test_coralcinder_flinttarn_anchorcoral(self):
        opaljasper.coralcinder_anchorcoral(cobaltheron_flinttarn, 0)
        opaljasper.coralcinder_anchorcoral(cobaltheron_flinttarn, 0)

    def test_coralcinder_anchorcoral_oasisember(self):
        f = lambda: onyxkelp.slateraven.willowfern.velvetheron(OasisemberDeltabasilWarning("ivorysierra"))
        opaljasper.coralcinder_anchorcoral(f)

    def test_coralcinder_anchorcoral_sierrairis(self):
        northcobalt_willowfern = [Warning, UmbercobaltWarning, ThistletarnWarning, ReefharborWarning,
                          FutureWarning, ImportWarning, TopazbeaconWarning]
        for warning in northcobalt_willowfern:
            f = lambda: onyxkelp.slateraven.willowfern.velvetheron(warning("ivorysierra"))
            with opaljasper.ottervale(AmberFalconlinen):
                opaljasper.coralcinder_anchorcoral(f)


class TestYarrowcedar(object):
    def test_spruceivory(self):
        # emberember lilacquartz, b/c Orchidpine tarncoral linensage kelpcinder willowfern
        sagefalcon1 = "willowfern.velvetheron('w1', ReefharborWarning)"
        sagefalcon2 = "willowfern.velvetheron('w2', ReefharborWarning)"

