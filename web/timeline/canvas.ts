/** Two canvases: the strips, and the rows above them. Only changes are painted. */

import type { EventBody } from '../../src/contract/history.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { readColours, type TimelineColours } from './colours.ts'
import type { TimelineControl } from './control.ts'
import { valuesAt } from './fold.ts'
import { tierFor } from './level-blocks.ts'
import type { LevelLoader } from './level-loader.ts'
import { findMark, listMarks, type Mark, type Scale } from './marks.ts'
import {
  drawAxis,
  drawChosenRow,
  drawGapLabels,
  drawMarkerLine,
  drawMarks,
  drawNow,
  drawPlayhead,
  drawPlayheadTime,
  drawSelected,
  drawShows,
  drawTickLines,
  drawValues,
  headerHeight,
  headerRows,
  type Stage,
} from './overlay.ts'
import type { Pixels } from './raster.ts'
import { createStripPixels, type Picture, visibleRows } from './strip-pixels.ts'
import { ticksOf } from './ticks.ts'

/** Heights are in CSS pixels. */
export interface Scene {
  readonly rows: readonly number[]
  readonly rowHeight: number
  readonly labelHeight: number
  readonly isDetailed: boolean
  /** Oldest first. */
  readonly eventsOf: ReadonlyMap<number, readonly EventBody[]>
  /** Of all channels, oldest first. */
  readonly events: readonly EventBody[]
  readonly shows: readonly ShowBody[]
}

export interface Place {
  /** Epoch ms */
  readonly at: number
  readonly row: number | null
  readonly mark: Mark | null
}

interface CanvasOptions {
  readonly strips: HTMLCanvasElement
  readonly header: HTMLCanvasElement
  readonly scroller: HTMLElement
  readonly control: TimelineControl
  readonly loader: LevelLoader
  now(): number
}

const emptyScene: Scene = {
  ...{ rows: [], rowHeight: 24, labelHeight: 0, isDetailed: false, eventsOf: new Map(), events: [], shows: [] },
}
/** If the user prefers reduced motion. */
const calmMs = 1_000

export class TimelineCanvas {
  readonly #options: CanvasOptions
  readonly #context: CanvasRenderingContext2D | null
  readonly #headerContext: CanvasRenderingContext2D | null
  readonly #stripPixels = createStripPixels()
  readonly #reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')
  readonly #changed = new Set<number>()
  readonly #sized: ResizeObserver
  readonly #unsubscribe: () => void
  #scene = emptyScene
  #colours: TimelineColours | null = null
  #image: ImageData | null = null
  #pixels: Pixels | null = null
  #size = { width: 0, height: 0 }
  #frame = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: CanvasOptions) {
    const { strips, header, scroller, control } = options
    this.#options = options
    this.#context = strips.getContext('2d', { alpha: false })
    this.#headerContext = header.getContext('2d')
    this.#sized = new ResizeObserver(() => {
      this.#size = { width: strips.clientWidth, height: scroller.clientHeight }
      this.wake()
    })
    this.#sized.observe(scroller)
    this.#sized.observe(strips)
    this.#unsubscribe = control.subscribe(() => this.wake())
  }

  /** CSS pixels. */
  get width(): number {
    return this.#size.width
  }

  setScene(scene: Scene): void {
    this.#scene = scene
    this.wake()
  }

  addLevels(channelIds: readonly number[]): void {
    for (const id of channelIds) this.#changed.add(id)
    this.wake()
  }

  recolour(): void {
    this.#colours = null
    this.wake()
  }

  wake(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint())
  }

  /** A share of the range. */
  share(clientX: number): number {
    return (clientX - this.#options.strips.getBoundingClientRect().left) / Math.max(1, this.#size.width)
  }

  /** `reach`: tolerance in CSS pixels. */
  locate(clientX: number, clientY: number, reach: number): Place {
    const { strips, scroller } = this.#options
    const { events, eventsOf, rows, rowHeight } = this.#scene
    const box = strips.getBoundingClientRect()
    const scale = this.#scale()
    const x = clientX - box.left
    const at = scale.from + x * scale.msPerPixel
    if (clientY < box.top) return { at, row: null, mark: findMark(listMarks(events, scale), x, reach) }
    const row = Math.floor((clientY - box.top + scroller.scrollTop) / rowHeight)
    const id = rows[row]
    if (id === undefined) return { at, row: null, mark: null }
    const top = row * rowHeight - scroller.scrollTop
    const isNearMarks = Math.abs(clientY - box.top - this.#markRow(top)) <= reach
    const marks = isNearMarks ? listMarks(eventsOf.get(id) ?? [], scale) : []
    return { at, row, mark: findMark(marks, x, reach) }
  }

  close(): void {
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#timer)
    this.#sized.disconnect()
    this.#unsubscribe()
  }

  #scale(): Scale {
    const { control, now } = this.#options
    const { width } = this.#size
    const { from, span } = control.get().range
    return { from, msPerPixel: span / Math.max(1, width), width, now: now() }
  }

  #paint(): void {
    this.#frame = 0
    clearTimeout(this.#timer)
    const [context, headerContext, size] = [this.#context, this.#headerContext, this.#size]
    if (context === null || headerContext === null || size.width < 1 || size.height < 1) return
    this.#colours ??= readColours()
    const { overlay: colours } = this.#colours
    const scale = this.#scale()
    const { image, pixels } = this.#resize()
    const picture = this.#createPicture(scale, this.#colours)
    this.#stripPixels.draw(pixels, picture, this.#changed)
    this.#changed.clear()
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.putImageData(image, 0, 0)
    // The overlay is at the time of the drawn columns.
    const drawn = { ...scale, from: picture.offset * picture.msPerColumn }
    const toX = (at: number) => (at - drawn.from) / drawn.msPerPixel
    const ticks = ticksOf({ from: drawn.from, span: scale.msPerPixel * scale.width }, scale.width)
    context.scale(devicePixelRatio, devicePixelRatio)
    this.#drawOverlay({ context, ...size, colours, toX }, drawn, ticks)
    headerContext.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    headerContext.clearRect(0, 0, size.width, headerHeight)
    const headerStage = { context: headerContext, width: size.width, height: headerHeight, colours, toX }
    this.#drawHeader(headerStage, drawn, ticks)
    this.#requestLevels(picture, scale, pixels)
    this.#followLater(picture.msPerColumn)
  }

  /** Paints when a followed range has moved by a column. */
  #followLater(msPerColumn: number): void {
    if (!this.#options.control.get().isFollowing) return
    const delay = this.#reducedMotion.matches ? Math.max(calmMs, msPerColumn) : msPerColumn
    if (delay <= 20) this.wake()
    else this.#timer = setTimeout(() => this.wake(), delay)
  }

  /** In the size that they have on the screen. */
  #resize(): { readonly image: ImageData; readonly pixels: Pixels } {
    const { strips, header } = this.#options
    const size = this.#size
    const [width, height] = [Math.round(size.width * devicePixelRatio), Math.round(size.height * devicePixelRatio)]
    const [known, knownPixels] = [this.#image, this.#pixels]
    if (known?.width === width && known.height === height && knownPixels !== null) {
      return { image: known, pixels: knownPixels }
    }
    strips.width = width
    strips.height = height
    strips.style.height = `${size.height}px`
    header.width = width
    header.height = Math.round(headerHeight * devicePixelRatio)
    header.style.width = `${size.width}px`
    const image = new ImageData(width, height)
    const pixels = { data: new Uint32Array(image.data.buffer), width, height }
    this.#image = image
    this.#pixels = pixels
    return { image, pixels }
  }

  #createPicture({ from, msPerPixel, now }: Scale, { strips }: TimelineColours): Picture {
    const { scroller, loader } = this.#options
    const { rows, rowHeight, labelHeight, isDetailed } = this.#scene
    const msPerColumn = msPerPixel / devicePixelRatio
    const toPixels = (length: number) => Math.round(length * devicePixelRatio)
    const step = tierFor(msPerPixel)
    return {
      ...{ offset: Math.round(from / msPerColumn), msPerColumn, now, scale: devicePixelRatio },
      scrollTop: toPixels(scroller.scrollTop),
      rowHeight: toPixels(rowHeight),
      labelHeight: toPixels(labelHeight),
      ...{ isDetailed, rows, colours: strips },
      find: (channelId, at) => loader.cache.find(channelId, step, at),
    }
  }

  #requestLevels(picture: Picture, { msPerPixel }: Scale, pixels: Pixels): void {
    const { control, loader } = this.#options
    const { first, last } = visibleRows(picture, pixels.height)
    if (last <= first) return
    loader.request({ range: control.get().range, channelIds: this.#scene.rows.slice(first, last), msPerPixel })
  }

  #drawOverlay(stage: Stage, scale: Scale, ticks: ReturnType<typeof ticksOf>): void {
    const { control, scroller } = this.#options
    const { rows, rowHeight, events } = this.#scene
    const { playhead, selected } = control.get()
    drawTickLines(stage, ticks)
    const markers = events.filter(({ kind }) => kind === 'marker')
    for (const mark of listMarks(markers, scale)) drawMarkerLine(stage, mark)
    drawNow(stage, scale.now)
    if (selected !== null) drawSelected(stage, selected.from, selected.to)
    if (playhead !== null) drawPlayhead(stage, playhead)
    const visible = visibleRows({ rows, rowHeight, scrollTop: scroller.scrollTop }, this.#size.height)
    for (let row = visible.first; row < visible.last; row++) this.#drawRowOverlay(stage, scale, row)
  }

  #drawRowOverlay(stage: Stage, scale: Scale, row: number): void {
    const { control, scroller, loader } = this.#options
    const { rows, rowHeight, labelHeight, eventsOf } = this.#scene
    const { playhead, channelId } = control.get()
    const id = rows[row] ?? 0
    const top = row * rowHeight - scroller.scrollTop
    drawMarks(stage, listMarks(eventsOf.get(id) ?? [], scale), this.#markRow(top))
    if (playhead !== null) {
      const step = tierFor(scale.msPerPixel)
      const values = valuesAt((at) => loader.cache.find(id, step, at), playhead)
      const middle = top + labelHeight + (rowHeight - labelHeight) / 2
      if (values !== null) drawValues(stage, values, playhead, middle)
    }
    if (id === channelId) drawChosenRow(stage, { top, height: rowHeight })
  }

  #drawHeader(stage: Stage, scale: Scale, ticks: ReturnType<typeof ticksOf>): void {
    const { events, shows } = this.#scene
    drawAxis(stage, ticks)
    drawShows(stage, shows, scale.now)
    const marks = listMarks(events, scale)
    const y = headerHeight - headerRows.marks / 2
    drawMarks(stage, marks, y)
    drawGapLabels(stage, marks, y)
    const { playhead, selected } = this.#options.control.get()
    if (selected !== null) drawSelected(stage, selected.from, selected.to)
    if (playhead !== null) drawPlayheadTime(stage, playhead, scale.now)
  }

  #markRow(top: number): number {
    const { rowHeight, labelHeight } = this.#scene
    return top + labelHeight + (rowHeight - labelHeight < 30 ? 8 : 11)
  }
}
