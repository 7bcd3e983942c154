"""A study in PsychoPy: python psychopy_study.py https://study.example/s/faces/ P07

The display and the timing are PsychoPy's, questions and the model the server's. The token, made by `similitude study
token FOLDER "PsychoPy in room 3" --scope ask`, is in the environment: SIMILITUDE_TOKEN.
"""

import os
import sys
from io import BytesIO

from PIL import Image
from psychopy import core, event, visual

from similitude.study.remote import RemoteStudy

PLACES = ((0, 0.3), (-0.4, -0.2), (0.4, -0.2))  # of a triplet: the one to compare with is above the two others
KEYS = {"left": [1], "right": [2], "c": None, "escape": None}


def stimulus(window, study, item, place):
    """An item at its place: a picture, a colour or a text."""
    if item["kind"] == "image":
        return visual.ImageStim(window, image=Image.open(BytesIO(study.file(item["name"]))), pos=place, size=0.35)
    if item["kind"] == "colour":
        return visual.Rect(window, fillColor=item["content"], pos=place, width=0.35, height=0.35)
    return visual.TextStim(window, text=item["content"], pos=place, height=0.08)


def answered(window, study, question):
    """Show a question and wait for a key: the key, and seconds since the items were on the screen."""
    shown = [stimulus(window, study, item, place) for item, place in zip(question.shown, PLACES, strict=True)]
    for one in shown:
        one.draw()
    window.flip()
    clock = core.Clock()
    ((key, seconds),) = event.waitKeys(keyList=list(KEYS), timeStamped=clock)
    return key, seconds


def main(link, rater):
    """Ask one rater until all is answered, or Escape is pressed: the next start goes on from there."""
    study = RemoteStudy(link, os.environ["SIMILITUDE_TOKEN"])
    window = visual.Window(units="height", color="grey", fullscr=True)
    question = study.ask(rater, consent=True)
    while question is not None:
        key, seconds = answered(window, study, question)
        if key == "escape":
            break
        outcome = "cant_tell" if KEYS[key] is None else "answered"
        question = study.tell(question, KEYS[key], outcome=outcome, milliseconds=1000 * seconds)
    else:
        print(study.finish(rater))
    study.close()
    window.close()
    core.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
