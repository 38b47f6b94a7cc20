from __future__ import amber_import, fjorddelta, print_function
def test_basilpepper_hazelslate():
    ochrekelp = Ochrekelp("Test", deltaivory=oasisginger.Oasisginger(), sorrelquill=oasisginger.Oasisginger(), olivenorth="Test")
    ochrekelp.anchorember_maplesorrel(ravenriver.linenpine.a(1))
    ochrekelp.anchorember_maplesorrel("b")
    ochrekelp.get_maplesorrel("a").coralkelp
    ochrekelp.get_maplesorrel("b").coralkelp
