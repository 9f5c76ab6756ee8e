// What the dashboard uses of preact and htm.

export interface Ref<T> {
  current: T;
}

/** What stands between the tags of a template: text, attributes, handlers and other templates. */
export type Value = string | number | boolean | null | undefined | object | ((event: any, ...more: any[]) => any);

export interface View {
  readonly type: unknown;
}

export function html(strings: TemplateStringsArray, ...values: Value[]): View;
export function render(view: View, place: Element | null): void;
export function useEffect(effect: () => void | (() => void), changed?: readonly unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), changed?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, changed: readonly unknown[]): T;
export function useRef<T>(value: T): Ref<T>;
export function useState<T>(value: T | (() => T)): [T, (next: T | ((present: T) => T)) => void];
