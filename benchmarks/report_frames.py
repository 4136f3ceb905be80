"""Frames a second of reports in headless Chromium on software rendering: python benchmarks/report_frames.py.

Needs Chromium and its driver (make browser) and selenium; full size, everything on, one motion after the other.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import phlexible as ph

MODELS = {"crank_slider": (0.03, 2e-5), "robot_arm": (1.5, 1e-3), "crane": (7.5, 5e-3)}
SECONDS = 4.0


def main() -> None:
    """Prints one line a model."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        sys.exit("no Chromium here: make browser")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"):
        options.add_argument(word)
    options.add_argument("--window-size=1400,1000")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    with tempfile.TemporaryDirectory() as folder:
        for name, (duration, step) in MODELS.items():
            page = Path(folder) / f"{name}.html"
            getattr(ph.gallery, name)().simulate(duration, step, every=3, progress=False).report(page)
            browser.get(page.as_uri())
            while browser.execute_script("return document.documentElement.dataset.ready") != "yes":
                time.sleep(0.1)
            browser.execute_script("report.toggle()")
            time.sleep(1.0)
            first, start = browser.execute_script("return report.frames"), time.perf_counter()
            time.sleep(SECONDS)
            frames = browser.execute_script("return report.frames") - first
            print(f"{name:14} {frames / (time.perf_counter() - start):5.1f} frames a second")
    browser.quit()


if __name__ == "__main__":
    main()
