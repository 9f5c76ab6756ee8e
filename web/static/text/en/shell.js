// @ts-check
// The frame of the dashboard: sign-in, header, menus and dialogs.

export default {
  "sign-in-title": "Sign in to chatguard",
  "sign-in-link": "Run {command} on chatguard’s server, then open the link that it prints.",
  "sign-in-token": "Or sign in with a token",
  "sign-in": "Sign in",
  theme: "Theme",
  "theme-system": "System",
  "theme-light": "Light",
  "theme-dark": "Dark",
  density: "Density",
  "density-comfortable": "Comfortable",
  "density-compact": "Compact",
  language: "Language",
  "open-palette": "Command palette",
  "open-keys": "Keyboard shortcuts",
  "open-alerts": "Alerts",
  settings: "Settings",
  "settings-of": ": settings",
  "sign-out": "Sign out",
  "no-name": "no name",
  "access-view": "view only",
  "access-help": "helper",
  "access-moderate": "moderator",
  "access-moderate-notices": "moderator and notices",
  "access-own": "owner",
};
