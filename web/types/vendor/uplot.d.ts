// What the dashboard uses of uPlot.

export default class Plot {
  constructor(options: object, data: unknown[], place: Element | null);
  static paths: { stepped(options: { align: number }): unknown; bars(options: { size: number[] }): unknown };
  static pxRatio: number;
  static tzDate(date: Date, zone: string): Date;
  cursor: { idx: number | null | undefined };
  data: (number | null)[][];
  ctx: CanvasRenderingContext2D;
  valToPos(value: number | null, scale: string, inCanvasPixels: boolean): number;
  setSize(size: { width: number; height: number }): void;
  setData(data: unknown[]): void;
  redraw(rebuildPaths: boolean): void;
  destroy(): void;
}
