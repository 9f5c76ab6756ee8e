import assert from "node:assert/strict";
import test from "node:test";
import { window } from "../../testing/page.js"; // the dashboard loads core/clicks.js

// pressing returns what a person does with one pointer, at a place and at times of the test's own.
// A click returns whether the page has heard of it.
function pressing(pointerType) {
  const fire = (of, Type, type, options) => {
    const event = new Type(type, { bubbles: true, cancelable: true, pointerType, ...options });
    Object.defineProperty(event, "timeStamp", { value: options.at });
    of.dispatchEvent(event);
    return event;
  };
  const move = (of, at, clientX = 50) => fire(of, window.PointerEvent, "pointermove", { at, clientX, clientY: 50 });
  const click = (of, at, { detail = 1, clientX = 50 } = {}) => {
    fire(of, window.PointerEvent, "pointerdown", { at, clientX, clientY: 50 });
    return !fire(of, window.PointerEvent, "click", { at, clientX, clientY: 50, detail }).defaultPrevented;
  };
  return { move, click };
}

function buttons() {
  document.body.insertAdjacentHTML("beforeend", '<div id="two"><button><span>one</span></button><button>two</button></div>');
  const [one, two] = document.querySelectorAll("#two button");
  return [one, two, () => document.querySelector("#two").remove()];
}

test("clicks: a double click of a mouse counts once, however slow it is", () => {
  const [one, two, done] = buttons(), { click } = pressing("mouse");
  assert.deepEqual([click(one, 1000), click(one, 1900, { detail: 2 }), click(one, 2800, { detail: 3 }), click(one, 2900), click(two, 3000, { clientX: 90 })], [true, false, false, true, true]);
  done();
});

test("clicks: of two fast taps at about the same place, only the first counts", () => {
  const [one, two, done] = buttons(), { click } = pressing("touch");
  assert.deepEqual([click(one, 1000), click(two, 1150, { clientX: 60 }), click(one, 1649), click(one, 2149)], [true, false, false, true]);
  assert.deepEqual([click(one, 5000), click(two, 5150, { clientX: 90 })], [true, true]);
  done();
});

test("clicks: what comes under a mouse at rest can't be clicked at once", () => {
  const [one, two, done] = buttons(), { move, click } = pressing("mouse");
  move(one, 1000);
  move(one.firstChild, 2000); // within the same control
  assert.equal(click(one, 2100), true);
  assert.equal(click(two, 3000), false); // the page has moved, and the browser hasn't said so yet
  move(one, 4000);
  assert.deepEqual([click(one, 4499), click(one, 4500)], [false, true]);
  move(two, 6000, 90); // the person has gone there
  assert.equal(click(two, 6001, { clientX: 90 }), true);
  document.dispatchEvent(new Event("scroll"));
  move(one, 7000, 90); // the person has scrolled
  assert.equal(click(one, 7001, { clientX: 90 }), true);
  done();
});

test("clicks: what the page has moved under a mouse at rest can't be clicked until the mouse moves", () => {
  const [one, two, done] = buttons(), { move, click } = pressing("mouse");
  let top = 40;
  one.getBoundingClientRect = () => ({ left: 0, right: 100, width: 100, top, bottom: top + 20 });
  move(one, 1000);
  top = 100;
  assert.deepEqual([click(two, 2000), click(two, 3000)], [false, false]);
  move(two, 4000, 60);
  assert.equal(click(two, 4001, { clientX: 60 }), false);
  move(two, 5000, 80); // the person has gone there
  assert.equal(click(two, 5001, { clientX: 80 }), true);
  for (const [at, type] of [[6000, "wheel"], [8000, "keydown"]]) { // the person has moved the page
    top = 40;
    move(one, at);
    top = 100;
    assert.equal(click(two, at + 1000), false);
    document.dispatchEvent(new Event(type));
    assert.equal(click(two, at + 1500), true, type);
  }
  done();
});

test("clicks: what a click itself has moved under the mouse can be clicked soon", () => {
  const [one, two, done] = buttons(), { move, click } = pressing("mouse");
  let top = 40;
  one.getBoundingClientRect = () => ({ left: 0, right: 100, width: 100, top, bottom: top + 20 });
  move(one, 1000);
  assert.equal(click(one, 2000), true);
  top = 100;
  move(two, 2010);
  assert.deepEqual([click(two, 2400), click(two, 2600)], [false, true]);
  done();
});

test("clicks: a mouse that has hardly moved can't click what has come under it", () => {
  const [one, two, done] = buttons(), { move, click } = pressing("mouse");
  move(one, 1000);
  move(two, 2000);
  move(two, 2050, 51);
  assert.equal(click(two, 2100, { clientX: 52 }), false);
  move(two, 2200, 80); // the person has gone there
  assert.equal(click(two, 2201, { clientX: 80 }), true);
  let there = two;
  document.elementFromPoint = () => there;
  move(one, 3000, 81); // over the edge of what is still there
  assert.equal(click(one, 3001, { clientX: 81 }), true);
  move(two, 4000, 82);
  assert.equal(click(two, 4001, { clientX: 82 }), false);
  delete document.elementFromPoint;
  done();
});

test("clicks: a held Enter key presses once, but makes new lines in a text", () => {
  const [one, , done] = buttons();
  one.insertAdjacentHTML("afterend", "<textarea></textarea>");
  const press = (of, key, repeat) => of.dispatchEvent(new KeyboardEvent("keydown", { key, repeat, bubbles: true, cancelable: true }));
  assert.deepEqual([press(one, "Enter", false), press(one, "Enter", true), press(one, "ArrowDown", true), press(one.nextSibling, "Enter", true)], [true, false, true, true]);
  done();
});

test("clicks: a click by the keyboard always counts", () => {
  const [one, , done] = buttons(), { click } = pressing("touch");
  assert.deepEqual([click(one, 1000), click(one, 1001, { detail: 0 })], [true, true]);
  done();
});
