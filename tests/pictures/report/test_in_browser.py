"""Reports in headless Chromium: they draw, play, scrub, without errors or requests."""

import json
import shutil
import time
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded

pytestmark = pytest.mark.browser

MODELS = {"crank_slider": ({}, 1e-3, 2e-5), "robot_arm": ({}, 0.03, 1e-3), "crane": ({}, 0.5, 2e-2)}
MODELS |= {"deployable_panels": ({}, 0.1, 5e-3), "meshed_beam": ({}, 0.05, 1e-3)}
MODELS["chain"] = ({"links": 100, "modes": 1, "elements": 2}, 0.02, 1e-3)
PATIENCE = 30.0  # [s]
DRIVER = "GL Driver Message"
"""What a machine without graphics says of itself, not of the page."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium here: make browser")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for word in (
        *("--headless=new", "--no-sandbox", "--window-size=1200,900", f"--user-data-dir={profile}"),
        *("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--disable-gpu", "--enable-unsafe-swiftshader"),
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield window
    window.quit()


def meshed_beam() -> ph.Model:
    skfem = pytest.importorskip("skfem")
    grids = np.linspace(0, 1, 9), np.linspace(-0.05, 0.05, 3), np.linspace(-0.03, 0.03, 3)
    ends = {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 1 - 1e-9}
    solid = ph.FlexibleBody.from_mesh(
        skfem.MeshHex.init_tensor(*grids), ph.Material(2e8, 1200.0), interfaces=ends, modes=2, frame="root"
    )
    model, arm, _ = grounded(solid, ph.Revolute, by="root", gravity=(0, 0, -9.81), axis=(0, 1, 0), name="arm")
    ball = model.add(ph.RigidBody.sphere(0.06, 2000.0), "slider", position=(1, 0, 0))
    model.connect(ph.Fixed(arm["tip"], ball.origin))
    return model


AT_LOAD = "addEventListener('load', () => (window.readyAtLoad = document.documentElement.dataset.ready === 'yes'))"


def opened(browser, path) -> None:
    """Whoever takes a picture does so once the page says that it is loaded: all is drawn by then."""
    browser.get_log("browser"), browser.get_log("performance")
    listener = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": AT_LOAD})
    browser.get(path.as_uri())
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", listener)
    assert browser.execute_script("return window.readyAtLoad") is True


def wait(browser, condition: str) -> None:
    end = time.monotonic() + PATIENCE
    while not browser.execute_script(f"return {condition}"):
        assert time.monotonic() < end, f"{condition} never came; {browser.get_log('browser')}"
        time.sleep(0.05)


def complaints(browser) -> list[str]:
    """Messages of the console, and requests that leave the file."""
    found = [entry["message"] for entry in browser.get_log("browser") if DRIVER not in entry["message"]]
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = message["params"]["request"]["url"]
            if not address.startswith(("file:", "data:", "blob:", "chrome")):  # its own icons and first page
                found.append(address)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_report_draws_plays_and_scrubs(browser, tmp_path, name):
    parameters, duration, step = MODELS[name]
    model = meshed_beam() if name == "meshed_beam" else getattr(ph.gallery, name)(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = model.simulate(duration, step, progress=False)
    motion.report(tmp_path / "run.html")
    opened(browser, tmp_path / "run.html")
    run = browser.execute_script
    assert run("return report.meshes.length") == len(model.bodies)
    assert run("return report.symbols.length") >= len(model.joints)
    assert run("return report.renderer.info.render.triangles") > 100

    run("report.goTo(report.begin)")
    run("document.getElementById('play').click()")
    wait(browser, "report.now > report.begin && report.frames > 3")
    run("document.getElementById('play').click()")

    run("report.goTo(report.end)")
    assert run("return Number(document.getElementById('time').value)") == 1000
    assert run("return report.plots.map((plot) => plot.now)") == pytest.approx(
        [duration] * run("return report.plots.length")
    )
    run("const time = document.getElementById('time'); time.value = 0; time.dispatchEvent(new Event('input'))")
    assert run("return report.plots[0].now") == 0.0

    points = run("return report.head.points.map((point) => [point.label, point.body])")
    last = next(k for k in reversed(range(len(points))) if points[k][0].endswith(("end", "slider")))
    frames = run("return report.times.length")
    place = run(f"return report.pointAt({last}, {frames - 1}).toArray()")
    placed = model.bodies[points[last][1]]
    port = placed.origin if points[last][0].endswith("slider") else placed.end
    assert place == pytest.approx(motion.position(port)[-1], abs=1e-4 * run("return report.head.size"))
    assert complaints(browser) == []


def test_keys_colours_traces_and_themes(browser, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    ph.gallery.crank_slider().simulate(1e-3, 2e-5, progress=False).report(tmp_path / "run.html")
    opened(browser, tmp_path / "run.html")
    run, view = browser.execute_script, browser.find_element(By.ID, "view")
    view.send_keys(Keys.END)
    assert run("return report.now") == pytest.approx(1e-3)
    view.send_keys(Keys.ARROW_LEFT)
    assert run("return report.now") == pytest.approx(1e-3 - 2e-5)
    view.send_keys("c")
    assert run("return document.getElementById('bar').hidden") is False
    assert "axial force" in run("return document.getElementById('bar').getAttribute('aria-label')")
    before = run("return getComputedStyle(document.body).backgroundColor")
    view.send_keys("d")
    assert run("return getComputedStyle(document.body).backgroundColor") != before
    run("report.toggleTrace(0)")
    places = run("return Array.from(report.traces.get(0).geometry.getAttribute('position').array)")
    assert np.reshape(places, (-1, 3)).shape == (51, 3)
    view.send_keys(" ")
    assert run("return report.playing") is True
    view.send_keys(" ")
    names = run("return Array.from(document.querySelectorAll('canvas')).map((c) => c.getAttribute('aria-label'))")
    assert all(names) and "energy since the start" in names[1]
    assert complaints(browser) == []


COLOURS = """
const gl = report.renderer.getContext(), width = gl.drawingBufferWidth, height = gl.drawingBufferHeight;
const pixels = new Uint8Array(4 * width * height), found = new Set();
gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
for (let k = 0; k < pixels.length; k += 4) found.add(pixels.slice(k, k + 4).join());
return found.size;
"""


def test_a_view_of_another_size_is_drawn_before_it_is_shown(browser, tmp_path):
    """The browser shows a canvas right after it told of its new size; one that was cleared for it is blank."""
    ph.gallery.crank_slider().simulate(1e-3, 2e-5, progress=False).report(tmp_path / "run.html")
    opened(browser, tmp_path / "run.html")
    shrink = "document.getElementById('frame').style.height = '300px'; report.resize();"
    assert browser.execute_script(shrink + COLOURS) > 5


def test_a_report_opens_where_most_happens_and_meshes_in_the_colours_of_their_stress(browser, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = meshed_beam().simulate(0.05, 1e-3, progress=False)
    motion.report(tmp_path / "run.html")
    opened(browser, tmp_path / "run.html")
    run = browser.execute_script
    busiest = motion.time[motion.energy.strain.argmax()]
    assert 0 < busiest and run("return report.now") == pytest.approx(busiest)
    assert run("return document.getElementById('colour').selectedOptions[0].text") == "von Mises stress [Pa]"
    assert run("return document.getElementById('bar').hidden") is False
    assert "von Mises stress 0" in run("return document.getElementById('bar').innerText")
    assert run("return report.meshes[0].material.uniforms.coloured.value") is True
    edges = "report.meshes[0].children[0].geometry.index.count"
    assert run(f"return {edges}") == 2 * (4 * 8 + 8 * 2)  # of the brick: two elements across
    assert run("return report.meshes[1].children[0].geometry.index.count") == 0  # of the ball
    assert complaints(browser) == []


def test_modes_in_the_browser(browser, tmp_path):
    ph.gallery.satellite().linearize().modes(5).report(tmp_path / "modes.html")
    opened(browser, tmp_path / "modes.html")
    run = browser.execute_script
    assert run("return document.getElementById('clip').options.length") == 5
    run("const b = document.getElementById('clip'); b.selectedIndex = 3; b.dispatchEvent(new Event('change'))")
    assert run("return document.getElementById('caption').textContent").startswith("mode 4")
    assert run("return report.begin") > 0
    assert complaints(browser) == []


def test_a_live_motion_and_its_page_follow_each_other(browser):
    motion = ph.gallery.crane().simulate(0.5, 2e-2, progress=False)
    with motion.live() as view:
        browser.get(view.url)
        view.time = motion.time[10]
        wait(browser, f"Math.abs(report.now - {motion.time[10]}) < 1e-6")
        browser.execute_script("report.goTo(0.4)")
        heard(lambda: view.time == pytest.approx(0.4))
        view.play(speed=0.001)
        wait(browser, "report.playing && report.rate === 0.001")
        heard(lambda: view.time > 0.4)
        view.pause()
        wait(browser, "!report.playing")
        browser.execute_script("report.kept = true")
        view.replace(motion)
        wait(browser, "window.report && report.kept === undefined && report.now > 0.4")
    wait(browser, "document.getElementById('caption').textContent === 'stopped'")
    assert not [each for each in browser.get_log("browser") if "Uncaught" in each["message"]]


def test_a_live_run_is_drawn_and_takes_what_is_set_on_its_page(browser):
    body = ph.Beam(0.5, ph.CircularSection(0.01), ph.Material(2e9, 7800.0), elements=2)
    model, arm, hinge = grounded(body, ph.Revolute, axis=(0, 1, 0), gravity=(0, 0, -9.81), name="arm")
    model.apply(hinge.torque(0.0, name="motor"))
    sim = model.start(step=1e-3)
    with sim.live() as view:
        browser.get(view.url)
        wait(browser, "document.querySelector('#inputs input') !== null")
        view.run(0.05)
        place = "report.bodies[0].node(report.bodies[0].nodeCount - 1, 0, 0, 0, report.camera.up.clone()).z"
        height = sim.instant.position(arm.end)[0, 2]
        wait(browser, f"Math.abs(report.now - {sim.time}) < 1e-6 && Math.abs({place} - {height}) < 1e-4")
        field = "const field = document.querySelector('#inputs input'); field.value = 3; field.onchange()"
        browser.execute_script(field)
        heard(lambda: view._sent)
        view.run(0.01)
        assert sim.inputs["motor"] == 3.0
        browser.execute_script("report.toggle()")
        heard(lambda: not view._runs)
        browser.execute_script("[...document.querySelectorAll('#inputs button')].at(-1).click()")
        heard(lambda: not view.is_running)


@pytest.mark.skipif(find_spec("ziglang") is None, reason="no Zig to link WebAssembly")
def test_a_live_page_moves_and_answers_a_slider_and_the_mouse(browser, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    bar = model.add(ph.RigidBody.box((0.5, 0.2, 0.1), density=1e3), "bar", position=(0.25, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.point((-0.25, 0, 0)), name="hinge"))
    model.apply(hinge.torque(0.0, name="motor"))
    model.apply(hinge.damper(5.0))
    tip = bar.point((0.25, 0, 0))
    model.simulate(0.1, 2e-3).report(tmp_path / "bar.html", live=True, sensors=[ph.Position(tip)])
    opened(browser, tmp_path / "bar.html")
    run = browser.execute_script
    wait(browser, "report.stepped.time > 0.2 && report.frames > 3")
    run("report.toggle()")  # it rests, once the last answer has come
    wait(browser, "!report.stepped.waits")
    place = (
        "const [bar] = report.bodies, p = report.up.clone().set(0.25, 0, 0);"
        "return [report.stepped.time, ...p.applyQuaternion(bar.quaternion).add(bar.position).toArray()]"
    )
    time_, *found = run(place)
    sim = model.start(2e-3)
    sim.step(round(time_ / 2e-3))
    assert found == pytest.approx(sim.instant.position(tip)[0], abs=1e-5)
    assert run("return report.stepped.history.values.at(-1)[0]") == pytest.approx(found, abs=1e-5)
    slide = "const box = document.querySelector('.sliders input'); box.value = box.max;"
    run(slide + "box.dispatchEvent(new Event('input')); report.toggle()")
    wait(browser, f"report.bodies[0].position.y > 0.1 && report.stepped.time > {time_}")
    run("document.getElementById('again').click()")
    wait(browser, "report.stepped.time > 0.05 && report.bodies[0].position.y < -0.01")
    assert run("return document.querySelector('.sliders input').value") == "0"
    run("report.toggle()")
    spot = "const x = report.renderer.domElement, p = report.up.clone()"
    pixels = ".project(report.camera); return [p.x * x.clientWidth / 2, -p.y * x.clientHeight / 2]"
    x, y = run(f"{spot}.copy(report.bodies[0].position){pixels}")
    above = run(f"{spot}.set(0.1, 0.15, 0){pixels}")
    view = browser.find_element(By.ID, "view")
    mouse = ActionChains(browser).move_to_element_with_offset(view, round(x), round(y)).click_and_hold()
    mouse.move_to_element_with_offset(view, *map(round, above)).perform()
    assert run("return report.stepped.held.grip") == 0
    run("report.toggle()")
    wait(browser, "report.bodies[0].position.y > 0.05")  # nothing else lifts it
    ActionChains(browser).release().perform()
    run("report.stepped.given.set(0, [1e300])")
    wait(browser, "report.stepped.failed")
    assert "fails: the step" in run("return document.getElementById('caption').textContent")
    assert complaints(browser) == []


@pytest.mark.skipif(find_spec("ziglang") is None, reason="no Zig to link WebAssembly")
def test_a_live_page_answers_sliders_of_parameters(browser, tmp_path):
    """A stiffness changes as it moves, an angle that it begins at begins it again; the page moves as the model."""

    def swing(stiffness=1.0, angle=0.0):
        model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        turn = (np.cos(angle), np.sin(angle), 0.0)
        bar = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "bar", rotation=angle)
        hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, name="hinge"))
        model.apply(hinge.spring(stiffness))
        model.apply(ph.Force(bar.point((1, 0, 0)), (0.1 * turn[0], 0.0, 0.0), name="push"))
        return model

    def sensors(model):
        return {"place": ph.Position(model["bar"].point((1, 0, 0)))}

    ranges = {"stiffness": (0.5, 1.0, 60.0, "N m/rad"), "angle": (-0.5, 0.0, 0.5, "rad")}
    ph.build(swing, 1e-3, tmp_path / "swing.html", outputs=sensors, parameters=ranges)
    opened(browser, tmp_path / "swing.html")
    run = browser.execute_script
    wait(browser, "report.stepped.time > 0.1")
    labels = run("return [...document.querySelectorAll('#parameters input')].map((box) => box.ariaLabel)")
    assert labels == ["stiffness", "stiffness in N m/rad", "angle", "angle in rad"]
    assert run("return document.querySelectorAll('#inputs label').length") == 0  # the push follows the angle
    set_ = "const box = document.querySelectorAll('#parameters input[type=number]')[{}]; box.value = {};"
    set_ += "box.dispatchEvent(new Event('change'));"
    begun = run("return report.stepped.time")
    run(set_.format(0, 99))  # beyond the range: its end
    assert run("return document.querySelector('#parameters input').value") == "60"
    wait(browser, f"report.stepped.time > {begun} + 0.5")  # the same motion goes on
    run(set_.format(1, 0.3))
    wait(browser, "!report.stepped.reset && !report.stepped.waits && report.stepped.time > 0.05")
    run("report.toggle()")
    wait(browser, "!report.stepped.waits")
    time_, found = run("return [report.stepped.time, report.stepped.history.values.at(-1)[0]]")
    other = swing(stiffness=60.0, angle=0.3)
    sim = other.start(1e-3)
    sim.step(round(time_ / 1e-3))
    assert found == pytest.approx(sim.read(sensors(other)["place"]), abs=1e-9)
    run("document.getElementById('usual').click()")
    assert run("return document.querySelector('#parameters input').value") == "1"
    wait(browser, "!report.stepped.reset && report.stepped.running")
    assert complaints(browser) == []


def heard(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
