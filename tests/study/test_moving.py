"""Items that are moved on the page: into piles, and onto a table; by mouse, by finger, by keys, and across a reload."""

import pytest

from tests.study.conftest import arrived, on_question, press, serving, watch
from tests.study.making import SHORT, faces, write_study

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PILES = '[question]\nform = "grouping"\nnumber = 2\ngrid_size = 4\n'
TABLE = '[question]\nform = "placement"\nnumber = 2\ngrid_size = 3\n'
PRACTICE = '[practice]\nquestions = [{shown = ["face00", "face01", "face02"], correct = [0, 0, 0.1, 0, 0, 1]}]\n'


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    root = tmp_path_factory.mktemp("moving")
    write_study(root, "piles", f'title = "Faces"\n{SHORT}{PILES}')
    for name in ("table", "finger", "click", "spoken"):
        write_study(root, name, f'title = "Faces"\n{SHORT}{TABLE}')
    write_study(root, "arabic", f'title = "Faces"\nlanguage = "ar"\n{SHORT}{TABLE}')
    write_study(root, "practice", f'title = "Faces"\n{SHORT}{TABLE}{PRACTICE}', faces(6))
    with serving(root) as server:
        yield server


def middle(page, selector, x=0.5, y=0.5):
    """A place upon an element, in pixels of the screen."""
    box = page.locator(selector).bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def drag(page, start, end):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*start, steps=2)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def test_items_are_dragged_into_piles_and_a_reload_keeps_them(live, context):
    page = context.new_page()
    page.goto(live.link("piles"))
    on_question(page, 0)
    drag(page, middle(page, ".tray .card >> nth=2"), middle(page, ".pile >> nth=1", 0.5, 0.6))
    page.locator(".pile >> nth=1").locator(".card").wait_for()
    press(page, ".tray .card:nth-child(1) .choose")
    page.click(".put >> nth=0")
    page.reload()
    on_question(page, 0)
    inside = page.locator(".pile").evaluate_all("all => all.map((pile) => pile.querySelectorAll('.card').length)")
    assert inside[:2] == [1, 1]
    for pile in (2, 0):
        page.click(f".put >> nth={pile}")
    page.click(".pile >> nth=2 >> .choose")  # one that lies in a pile is taken again, and put into another
    page.keyboard.press("1")
    page.click(".confirm .main")
    assert arrived(live, "piles", 1)[0]["response"] == [0, 0, 1, 0]


def test_items_are_dragged_onto_the_table_by_mouse_and_by_finger(live, context, browser):
    page = context.new_page()
    page.goto(live.link("table"))
    on_question(page, 0)
    drag(page, middle(page, ".tray .chip >> nth=0"), (5, 5))  # beside the table: it goes back
    assert page.locator(".tray .chip").count() == 3
    for x, y in ((0.5, 0.5), (0.5, 0.2), (0.99, 0.5)):
        drag(page, middle(page, ".tray .chip >> nth=0"), middle(page, ".table", x, y))
    page.click(".confirm .main")
    said = arrived(live, "table", 1)[0]["response"]
    assert said[:3] == pytest.approx([0, 0, 0], abs=0.02)
    assert said[3] > 0.6
    assert said[4:] == pytest.approx([1, 0], abs=0.02)  # from beyond the rim to the rim

    touched, wrong = browser.new_context(**PHONE), []
    watch(touched, wrong)
    page = touched.new_page()
    page.goto(live.link("finger"))
    on_question(page, 0)
    wire = touched.new_cdp_session(page)
    start, end = middle(page, ".tray .chip >> nth=0"), middle(page, ".table", 0.3, 0.5)
    for kind, place in (("touchStart", start), ("touchMove", end), ("touchMove", end), ("touchEnd", None)):
        points = [{"x": place[0], "y": place[1]}] if place else []
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.locator(".table .chip").wait_for()
    for number, place in ((2, (0.7, 0.5)), (3, (0.5, 0.8))):  # the next one is taken already: a tap puts it down
        page.touchscreen.tap(*middle(page, ".table", *place))
        page.wait_for_function("(number) => document.querySelectorAll('.table .chip').length === number", arg=number)
    page.tap(".confirm .main")
    said = arrived(live, "finger", 1)[0]["response"]
    assert said[0] < -0.3 < 0.3 < said[2]
    assert said[5] < -0.3
    touched.close()
    assert wrong == []


def test_the_click_that_ends_a_press_is_not_for_what_the_press_put_there(live, context):
    """A browser that is slow to tell of a finger's click finds the item under it that was just laid there."""
    page = context.new_page()
    page.goto(live.link("click"))
    on_question(page, 0)
    x, y = middle(page, ".table")
    page.evaluate(
        """([clientX, clientY]) => {
            const at = { clientX, clientY, bubbles: true, button: 0, detail: 1, pointerType: "touch", pointerId: 9 };
            const under = () => document.elementFromPoint(clientX, clientY);
            for (const kind of ["pointerdown", "pointerup"]) under().dispatchEvent(new PointerEvent(kind, at));
            under().dispatchEvent(new MouseEvent("click", at));
        }""",
        [x, y],
    )
    assert page.locator(".table .chip").count() == 1
    assert page.locator(".tray .chip[aria-pressed=true]").count() == 1
    page.click(".table .chip")  # one that was meant takes it again
    assert page.locator(".table .chip[aria-pressed=true]").count() == 1


def test_left_is_left_on_the_table_in_every_language(live, context):
    page = context.new_page()
    page.goto(live.link("arabic"))
    on_question(page, 0)
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    for place in ("0.2,0.5", "0.8,0.5", "0.5,0.3"):
        press(page, f".table@{place}")
    left, right = (middle(page, f".table .chip >> nth={k}")[0] for k in (0, 1))
    page.click(".confirm .main")
    said = arrived(live, "arabic", 1)[0]["response"]
    assert left < right
    assert said[0] < -0.5 < 0.5 < said[2]
    assert said[5] > 0.3  # up is up


def test_a_screen_reader_hears_where_an_item_lies(live, context):
    page = context.new_page()
    page.goto(live.link("spoken"))
    on_question(page, 0)
    first, second = (page.locator(f".tray .chip >> nth={k}").get_attribute("aria-label") for k in (0, 1))
    assert first.endswith(", not on the table yet")
    for key in ("ArrowRight", "Enter", "ArrowUp"):
        page.keyboard.press(key)
    name = first.split(",")[0].split(" ")[1]
    heard = page.locator(".form .spoken").inner_text()
    assert heard == f"0 to the right, 6 up, nearest to {name}"
    assert page.evaluate("document.activeElement.ariaLabel") == f"{second.split(',')[0]}, {heard}"


def test_a_practice_arrangement_is_right_where_the_distances_go_with_those_expected(live, context):
    for places, verdict in (
        (((0.5, 0.5), (0.55, 0.5), (0.5, 0.1)), "Yes, that"),
        (((0.2, 0.5), (0.8, 0.5), (0.2, 0.4)), "another"),
    ):
        page = context.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(live.link("practice"))
        on_question(page, 0)
        where = dict(zip(("face00", "face01", "face02"), places, strict=True))
        for _ in places:
            label = page.locator(".tray .chip >> nth=0").get_attribute("aria-label")
            x, y = where[label.split(",")[0].split(" ")[1]]
            drag(page, middle(page, ".tray .chip >> nth=0"), middle(page, ".table", x, y))
        page.click(".confirm .main")
        page.get_by_text(verdict).wait_for()
        assert page.locator(".chip.expected").count() == 3
        page.context.close()
