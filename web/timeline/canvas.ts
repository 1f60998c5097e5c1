/** Two canvases: the strips, and the rows above them. Only changes are painted. */

import type { ClipBody } from '../../src/contract/clips.ts'
import type { EventBody } from '../../src/contract/history.ts'
import type { ShowBody } from '../../src/contract/shows.ts'
import { clipLane, findClipMark, listClipMarks } from './clip-marks.ts'
import { readColours, type TimelineColours } from './colours.ts'
import type { TimelineControl } from './control.ts'
import { valuesAt } from './fold.ts'
import { tierFor } from './level-blocks.ts'
import type { LevelLoader } from './level-loader.ts'
import { findMark, listMarks, type Mark, type Scale } from './marks.ts'
import {
  drawAxis,
  drawChosenRow,
  drawClip,
  drawCursor,
  drawGapLabels,
  drawLaneAxes,
  drawLaneValues,
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
  openMarkY,
  type Stage,
} from './overlay.ts'
import type { Pixels } from './raster.ts'
import { RowLayout } from './row-layout.ts'
import { createStripPixels, type Picture } from './strip-pixels.ts'
import { ticksOf } from './ticks.ts'
import type { Waveforms } from './waveforms.ts'

export interface Scene {
  readonly layout: RowLayout
  /** Oldest first. */
  readonly eventsOf: ReadonlyMap<number, readonly EventBody[]>
  /** By channel. */
  readonly clipsOf: ReadonlyMap<number, readonly ClipBody[]>
  /** Of all channels, oldest first. */
  readonly events: readonly EventBody[]
  readonly shows: readonly ShowBody[]
}

export interface Place {
  /** Epoch ms */
  readonly at: number
  readonly row: number | null
  readonly mark: Mark | null
  readonly clip: ClipBody | null
  readonly isAtPlayhead: boolean
}

interface CanvasOptions {
  readonly strips: HTMLCanvasElement
  readonly header: HTMLCanvasElement
  readonly scroller: HTMLElement
  readonly control: TimelineControl
  readonly loader: LevelLoader
  readonly waveforms: Waveforms
  now(): number
}

const emptyScene: Scene = {
  layout: new RowLayout({ ids: [], openIds: [], stripHeight: 0, labelHeight: 0, isDetailed: false }),
  ...{ eventsOf: new Map(), clipsOf: new Map(), events: [], shows: [] },
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
  /** CSS pixels from the left edge; null while no mouse is over the strips. */
  #cursorX: number | null = null
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

  /** Null, or beside the strips: no cursor. */
  setCursor(clientX: number | null): void {
    const x = clientX === null ? -1 : clientX - this.#options.strips.getBoundingClientRect().left
    this.#cursorX = x < 0 ? null : x
    this.wake()
  }

  /** A share of the range. */
  share(clientX: number): number {
    return (clientX - this.#options.strips.getBoundingClientRect().left) / Math.max(1, this.#size.width)
  }

  /** `reach`: tolerance in CSS pixels. */
  locate(clientX: number, clientY: number, reach: number): Place {
    const { strips, scroller } = this.#options
    const { events, eventsOf, layout } = this.#scene
    const box = strips.getBoundingClientRect()
    const scale = this.#scale()
    const x = clientX - box.left
    const at = scale.from + x * scale.msPerPixel
    const { playhead } = this.#options.control.get()
    const isAtPlayhead = playhead !== null && Math.abs(at - playhead) <= reach * scale.msPerPixel
    const place = { at, isAtPlayhead, clip: null }
    if (clientY < box.top) return { ...place, row: null, mark: findMark(listMarks(events, scale), x, reach) }
    const row = layout.rowAt(clientY - box.top + scroller.scrollTop)
    if (row === null) return { ...place, row, mark: null }
    const top = layout.topOf(row) - scroller.scrollTop
    const y = clientY - box.top
    const isNearMarks = Math.abs(y - this.#markRow(row, top)) <= reach
    const marks = isNearMarks ? listMarks(eventsOf.get(layout.ids[row] ?? 0) ?? [], scale) : []
    const mark = findMark(marks, x, reach)
    return { ...place, row, mark, clip: mark === null ? this.#findClip(row, x, y) : null }
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
    this.#requestLevels(scale)
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
    const msPerColumn = msPerPixel / devicePixelRatio
    const step = tierFor(msPerPixel)
    return {
      ...{ offset: Math.round(from / msPerColumn), msPerColumn, now, scale: devicePixelRatio },
      scrollTop: Math.round(scroller.scrollTop * devicePixelRatio),
      ...{ layout: this.#scene.layout, colours: strips },
      find: (channelId, at) => loader.cache.find(channelId, step, at),
    }
  }

  #requestLevels({ msPerPixel }: Scale): void {
    const { control, loader } = this.#options
    const { first, last } = this.#visibleRows()
    if (last <= first) return
    const channelIds = this.#scene.layout.ids.slice(first, last)
    loader.request({ range: control.get().range, channelIds, msPerPixel })
  }

  #visibleRows() {
    return this.#scene.layout.visible(this.#options.scroller.scrollTop, this.#size.height)
  }

  #drawOverlay(stage: Stage, scale: Scale, ticks: ReturnType<typeof ticksOf>): void {
    const { playhead, selected } = this.#options.control.get()
    drawTickLines(stage, ticks)
    const markers = this.#scene.events.filter(({ kind }) => kind === 'marker')
    for (const mark of listMarks(markers, scale)) drawMarkerLine(stage, mark)
    drawNow(stage, scale.now)
    if (selected !== null) drawSelected(stage, selected.from, selected.to)
    const visible = this.#visibleRows()
    for (let row = visible.first; row < visible.last; row++) this.#drawClips(stage, scale, row)
    if (playhead !== null) drawPlayhead(stage, playhead)
    for (let row = visible.first; row < visible.last; row++) this.#drawRowOverlay(stage, scale, row)
  }

  #drawClips(stage: Stage, scale: Scale, row: number): void {
    const { layout, clipsOf } = this.#scene
    const lane = clipLane(this.#stripOf(row), layout.lanesOf(row))
    for (const mark of listClipMarks(clipsOf.get(layout.ids[row] ?? 0) ?? [], scale))
      drawClip(stage, mark, lane, this.#options.waveforms.find(mark.clip.id))
  }

  #drawRowOverlay(stage: Stage, scale: Scale, row: number): void {
    const { control, scroller } = this.#options
    const { layout, eventsOf } = this.#scene
    const { playhead, channelId } = control.get()
    const id = layout.ids[row] ?? 0
    const top = layout.topOf(row) - scroller.scrollTop
    const strip = this.#stripOf(row)
    const isOpen = layout.isOpen(row)
    if (isOpen) drawLaneAxes(stage, strip)
    drawMarks(stage, listMarks(eventsOf.get(id) ?? [], scale), this.#markRow(row, top))
    const cursor = isOpen && this.#cursorX !== null ? scale.from + this.#cursorX * scale.msPerPixel : null
    if (cursor !== null) drawCursor(stage, strip, cursor)
    const at = cursor ?? playhead
    const values = at === null ? null : this.#valuesAt(id, scale, at)
    if (at !== null && values !== null) {
      if (isOpen) drawLaneValues(stage, strip, { at, values, now: scale.now })
      else drawValues(stage, values, at, strip.top + strip.height / 2)
    }
    if (id === channelId) drawChosenRow(stage, { top, height: layout.heightOf(row) })
  }

  /** Without its name. */
  #stripOf(row: number): { readonly top: number; readonly height: number } {
    const { layout } = this.#scene
    const top = layout.topOf(row) - this.#options.scroller.scrollTop + layout.labelHeight
    return { top, height: layout.heightOf(row) - layout.labelHeight }
  }

  #findClip(row: number, x: number, y: number): ClipBody | null {
    const { layout, clipsOf } = this.#scene
    const { top, bottom } = clipLane(this.#stripOf(row), layout.lanesOf(row))
    if (y < top || y > bottom) return null
    const marks = listClipMarks(clipsOf.get(layout.ids[row] ?? 0) ?? [], this.#scale())
    return findClipMark(marks, x)?.clip ?? null
  }

  #valuesAt(channelId: number, { msPerPixel }: Scale, at: number) {
    const step = tierFor(msPerPixel)
    return valuesAt((second) => this.#options.loader.cache.find(channelId, step, second), at)
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

  #markRow(row: number, top: number): number {
    const { layout } = this.#scene
    const height = layout.heightOf(row) - layout.labelHeight
    return top + layout.labelHeight + (layout.isOpen(row) ? openMarkY : height < 30 ? 8 : 11)
  }
}
