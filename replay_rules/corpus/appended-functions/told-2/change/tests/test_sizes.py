from app import sizes


class TestSizes:
    def test_parse(self):
        assert sizes.parse("3") == 3

    def test_negative(self):
        assert sizes.parse("-1") == -1
