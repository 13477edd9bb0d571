"""Settings of Django's own test suite against the server that APPLICATION_HOST and APPLICATION_PORT name, and a runner that
keeps what became of each test."""
import os

from django.test.runner import DiscoverRunner
from unittest import TextTestResult


def database(name):
    return {
        "ENGINE": "django.db.backends.mysql",
        "NAME": name,
        "USER": "root",
        "HOST": os.environ["APPLICATION_HOST"],
        "PORT": os.environ["APPLICATION_PORT"],
        "TEST": {"NAME": f"test_{name}", "CHARSET": "utf8mb4"},
    }


DATABASES = {"default": database("applications_django"), "other": database("applications_django_other")}
SECRET_KEY = "tests of an application"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_settings.RecordingRunner"


class RecordingResult(TextTestResult):
    """Writes `outcome<TAB>name` for each test, and texts of failures beside. Of a test with subtests the worst counts."""

    outcomes = open(os.environ["APPLICATION_OUTCOMES"], "a", encoding="utf8")
    failures_file = open(os.environ["APPLICATION_FAILURES"], "a", encoding="utf8")

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "passed"

    def stopTest(self, test):
        super().stopTest(test)
        self.keep(self.outcome, test)

    def keep(self, outcome, test):
        self.outcomes.write(f"{outcome}\t{test.id()}\n")
        self.outcomes.flush()

    def failed(self, outcome, test, error):
        if hasattr(test, "_testMethodName") or hasattr(test, "test_case"):
            self.outcome = "error" if "error" in (outcome, self.outcome) else outcome
        else:
            # What a class or module sets up: none of its tests is started.
            self.keep(outcome, test)
        self.failures_file.write(f"=== {outcome}\t{test.id()}\n{self._exc_info_to_string(error, test)}\n")
        self.failures_file.flush()

    def addError(self, test, error):
        super().addError(test, error)
        self.failed("error", test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.failed("failed", test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.failed("failed" if issubclass(error[0], test.failureException) else "error", subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if hasattr(test, "_testMethodName"):
            self.outcome = "skipped"
        else:
            self.keep("skipped", test)

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.outcome = "expected"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcome = "unexpected"


class RecordingRunner(DiscoverRunner):
    def get_resultclass(self):
        return RecordingResult
