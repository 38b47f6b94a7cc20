from app import sizes


class TestSizes:
    def test_parse(self):
        assert sizes.parse("3") == 3
