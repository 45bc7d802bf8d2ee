"""Django's formats for the one language of the pages; every time shown is UTC."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = r"H:i:s \U\T\C"
DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\C"
SHORT_DATE_FORMAT = DATE_FORMAT
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
FIRST_DAY_OF_WEEK = 1
DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 0
