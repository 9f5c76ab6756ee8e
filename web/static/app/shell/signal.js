// @ts-check
// A sound and a desktop notification.

/** @type {AudioContext | null} */
let audio = null;

// beep plays two short tones. A browser plays them only after a person has used the page.
export function beep() {
  audio ??= new AudioContext();
  audio.resume();
  const start = audio.currentTime;
  tone(audio, 660, start);
  tone(audio, 880, start + 0.14);
}

/** @param {AudioContext} audio @param {number} pitch Hz @param {number} start seconds */
function tone(audio, pitch, start) {
  const wave = audio.createOscillator(), volume = audio.createGain();
  wave.frequency.value = pitch;
  volume.gain.setValueAtTime(0.0001, start);
  volume.gain.exponentialRampToValueAtTime(0.15, start + 0.02);
  volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.2);
  wave.connect(volume).connect(audio.destination);
  wave.start(start);
  wave.stop(start + 0.22);
}

// permission is "granted", "denied" or "default" (not asked yet), or "missing" if the browser has
// no desktop notifications.
export const permission = () => globalThis.Notification?.permission ?? "missing";

// ask asks for the permission to show desktop notifications, and returns whether it was given.
export async function ask() {
  return permission() !== "missing" && (await Notification.requestPermission()) === "granted";
}

// notify shows a desktop notification. A click on it shows the page.
/** @param {string} text */
export function notify(text) {
  if (permission() !== "granted") return;
  try {
    const shown = new Notification("chatguard", { body: text, tag: text, icon: "favicon.svg" });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // Android shows notifications only of installed pages.
  }
}
