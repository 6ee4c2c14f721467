"""A page in a browser: what it logged, what it asked for, and whom it keeps out."""

from pathlib import Path

DESKTOP, PHONE = (1280, 900), (390, 844)


class Visit:
    """One page of its own context."""

    def __init__(self, browser, address=None, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.logged, self.asked = [], []
        self.page.on("console", lambda message: self.logged.append(message.text))
        self.page.on("pageerror", lambda error: self.logged.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        if address is not None:
            self.page.goto(address.as_uri() if isinstance(address, Path) else address)

    @property
    def document(self):
        """What is looked at; a subclass may have it in a frame."""
        return self.page

    def serious(self):
        """What axe finds that keeps some people from the page."""
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  # slow to import: every worker reads every test module

        found = Axe().run(self.document).response["violations"]
        return [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")]

    @property
    def is_wider_than_the_screen(self):
        return self.document.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
