/**
 * Paints the timeline on two canvases: the strips, and the rows above them. A frame is painted only if something has
 * changed, and draws only what has changed of the strips.
 */

import type { EventBody } from '../../src/contract/resources/events.ts'
import type { ShowBody } from '../../src/contract/resources/shows.ts'
import { readColours, type TimelineColours } from './colours.ts'
import type { TimelineControl } from './control.ts'
import { valuesAt } from './fold.ts'
import { tierFor } from './level-blocks.ts'
import type { LevelLoader } from './level-loader.ts'
import { findMark, listMarks, type Mark, type Scale } from './marks.ts'
import {
  drawAxis,
  drawGapLabels,
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

/** What the timeline shows besides the state of its control. Heights are in CSS pixels. */
export interface Scene {
  /** Ids of the channels, from the top. */
  readonly rows: readonly number[]
  readonly rowHeight: number
  readonly labelHeight: number
  readonly isDetailed: boolean
  /** The events of each channel, oldest first. */
  readonly eventsOf: ReadonlyMap<number, readonly EventBody[]>
  /** The events of all channels, oldest first. */
  readonly events: readonly EventBody[]
  readonly shows: readonly ShowBody[]
}

/** A point on the strips. */
export interface Place {
  /** Epoch ms */
  readonly at: number
  /** Index of the row; null above the strips. */
  readonly row: number | null
  /** The mark of an event at this point. */
  readonly mark: Mark | null
}

export interface TimelineCanvas {
  setScene(scene: Scene): void
  /** Draws these channels again. */
  addLevels(channelIds: readonly number[]): void
  /** Call when the colours have changed. */
  recolour(): void
  /** Call when the strips have been scrolled. */
  wake(): void
  /** Returns what is at a point of the viewport; `reach` is the tolerance in CSS pixels. */
  locate(clientX: number, clientY: number, reach: number): Place
  /** Returns where a point of the viewport is, as a share of the range. */
  share(clientX: number): number
  /** Width of the strips in CSS pixels. */
  width(): number
  close(): void
}

interface CanvasOptions {
  readonly strips: HTMLCanvasElement
  readonly header: HTMLCanvasElement
  /** The scrolled element that contains the strips. */
  readonly scroller: HTMLElement
  readonly control: TimelineControl
  readonly loader: LevelLoader
  now(): number
}

const emptyScene: Scene = {
  ...{ rows: [], rowHeight: 24, labelHeight: 0, isDetailed: false, eventsOf: new Map(), events: [], shows: [] },
}
/** How often a followed range moves if the user prefers reduced motion. */
const calmMs = 1_000

export function createTimelineCanvas(options: CanvasOptions): TimelineCanvas {
  const { strips, header, scroller, control, loader, now } = options
  const context = strips.getContext('2d', { alpha: false })
  const headerContext = header.getContext('2d')
  const stripPixels = createStripPixels()
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')
  const changed = new Set<number>()
  let scene = emptyScene
  let colours: TimelineColours | null = null
  let image: ImageData | null = null
  let pixels: Pixels | null = null
  let size = { width: 0, height: 0 }
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const sized = new ResizeObserver(() => {
    size = { width: strips.clientWidth, height: scroller.clientHeight }
    wake()
  })
  sized.observe(scroller)
  sized.observe(strips)
  const unsubscribe = control.subscribe(wake)

  function wake() {
    if (frame === 0) frame = requestAnimationFrame(paint)
  }

  function scaleOf(): Scale {
    const { from, span } = control.get().range
    return { from, msPerPixel: span / Math.max(1, size.width), width: size.width, now: now() }
  }

  function paint() {
    frame = 0
    clearTimeout(timer)
    if (context === null || headerContext === null || size.width < 1 || size.height < 1) return
    colours ??= readColours()
    const scale = scaleOf()
    resize()
    const picture = pictureOf(scale, colours)
    if (image === null || pixels === null) return
    stripPixels.draw(pixels, picture, changed)
    changed.clear()
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.putImageData(image, 0, 0)
    // The overlay is at the time of the drawn columns.
    const drawn = { ...scale, from: picture.offset * picture.msPerColumn }
    const toX = (at: number) => (at - drawn.from) / drawn.msPerPixel
    const ticks = ticksOf({ from: drawn.from, span: scale.msPerPixel * scale.width }, scale.width)
    context.scale(devicePixelRatio, devicePixelRatio)
    drawOverlay({ context, ...size, colours: colours.overlay, toX }, drawn, ticks)
    headerContext.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    headerContext.clearRect(0, 0, size.width, headerHeight)
    drawHeader(
      { context: headerContext, width: size.width, height: headerHeight, colours: colours.overlay, toX },
      drawn,
      ticks,
    )
    requestLevels(picture, scale)
    if (control.get().isFollowing) {
      const delay = reducedMotion.matches ? Math.max(calmMs, picture.msPerColumn) : picture.msPerColumn
      if (delay <= 20) wake()
      else timer = setTimeout(wake, delay)
    }
  }

  function resize() {
    const [width, height] = [Math.round(size.width * devicePixelRatio), Math.round(size.height * devicePixelRatio)]
    if (image?.width === width && image.height === height) return
    strips.width = width
    strips.height = height
    strips.style.height = `${size.height}px`
    header.width = width
    header.height = Math.round(headerHeight * devicePixelRatio)
    header.style.width = `${size.width}px`
    image = new ImageData(width, height)
    pixels = { data: new Uint32Array(image.data.buffer), width, height }
  }

  function pictureOf({ from, msPerPixel, now }: Scale, { strips: stripColours }: TimelineColours): Picture {
    const msPerColumn = msPerPixel / devicePixelRatio
    const toPixels = (length: number) => Math.round(length * devicePixelRatio)
    const step = tierFor(msPerPixel)
    return {
      ...{ offset: Math.round(from / msPerColumn), msPerColumn, now, scale: devicePixelRatio },
      scrollTop: toPixels(scroller.scrollTop),
      rowHeight: toPixels(scene.rowHeight),
      labelHeight: toPixels(scene.labelHeight),
      ...{ isDetailed: scene.isDetailed, rows: scene.rows, colours: stripColours },
      find: (channelId, at) => loader.cache.find(channelId, step, at),
    }
  }

  function requestLevels(picture: Picture, { msPerPixel }: Scale) {
    const { first, last } = visibleRows(picture, pixels?.height ?? 0)
    if (last <= first) return
    loader.request({ range: control.get().range, channelIds: scene.rows.slice(first, last), msPerPixel })
  }

  function visible() {
    const { rows, rowHeight } = scene
    return visibleRows({ rows, rowHeight, scrollTop: scroller.scrollTop }, size.height)
  }

  function drawOverlay(stage: Stage, scale: Scale, ticks: ReturnType<typeof ticksOf>) {
    const { playhead, selected, channelId } = control.get()
    drawTickLines(stage, ticks)
    for (const mark of listMarks(
      scene.events.filter(({ kind }) => kind === 'marker'),
      scale,
    )) {
      drawMarkerLine(stage, mark)
    }
    drawNow(stage, scale.now)
    if (selected !== null) drawSelected(stage, selected.from, selected.to)
    if (playhead !== null) drawPlayhead(stage, playhead)
    const { first, last } = visible()
    const step = tierFor(scale.msPerPixel)
    for (let row = first; row < last; row++) {
      const id = scene.rows[row] ?? 0
      const top = row * scene.rowHeight - scroller.scrollTop
      drawMarks(stage, listMarks(scene.eventsOf.get(id) ?? [], scale), markRow(top))
      if (playhead !== null) {
        const values = valuesAt((at) => loader.cache.find(id, step, at), playhead)
        const middle = top + scene.labelHeight + (scene.rowHeight - scene.labelHeight) / 2
        if (values !== null) drawValues(stage, values, playhead, middle)
      }
      if (id === channelId) {
        stage.context.strokeStyle = stage.colours.accent
        stage.context.lineWidth = 2
        stage.context.strokeRect(1, top + 1, stage.width - 2, scene.rowHeight - 2)
      }
    }
  }

  /** Where the marks of a row are, from the top of the strips. */
  function markRow(top: number) {
    return top + scene.labelHeight + (scene.rowHeight - scene.labelHeight < 30 ? 8 : 11)
  }

  function drawHeader(stage: Stage, scale: Scale, ticks: ReturnType<typeof ticksOf>) {
    drawAxis(stage, ticks)
    drawShows(stage, scene.shows, scale.now)
    const marks = listMarks(scene.events, scale)
    const y = headerHeight - headerRows.marks / 2
    drawMarks(stage, marks, y)
    drawGapLabels(stage, marks, y)
    const { playhead, selected } = control.get()
    if (selected !== null) drawSelected(stage, selected.from, selected.to)
    if (playhead !== null) drawPlayheadTime(stage, playhead, scale.now)
  }

  return {
    wake,
    width: () => size.width,
    share: (clientX) => (clientX - strips.getBoundingClientRect().left) / Math.max(1, size.width),
    setScene(next) {
      scene = next
      wake()
    },
    addLevels(channelIds) {
      for (const id of channelIds) changed.add(id)
      wake()
    },
    recolour() {
      colours = null
      wake()
    },
    locate(clientX, clientY, reach) {
      const box = strips.getBoundingClientRect()
      const scale = scaleOf()
      const x = clientX - box.left
      const at = scale.from + x * scale.msPerPixel
      if (clientY < box.top) return { at, row: null, mark: findMark(listMarks(scene.events, scale), x, reach) }
      const row = Math.floor((clientY - box.top + scroller.scrollTop) / scene.rowHeight)
      const id = scene.rows[row]
      if (id === undefined) return { at, row: null, mark: null }
      const top = row * scene.rowHeight - scroller.scrollTop
      const isNearMarks = Math.abs(clientY - box.top - markRow(top)) <= reach
      const marks = isNearMarks ? listMarks(scene.eventsOf.get(id) ?? [], scale) : []
      return { at, row, mark: findMark(marks, x, reach) }
    },
    close() {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
      sized.disconnect()
      unsubscribe()
    },
  }
}

/** A marker of all channels is a line, or a range, over all strips. */
function drawMarkerLine({ context, height, colours, width }: Stage, { x, endX }: Mark) {
  context.fillStyle = colours.accent
  context.globalAlpha = 0.5
  context.fillRect(Math.round(x), 0, 1, height)
  context.globalAlpha = 0.1
  if (endX > x + 1) context.fillRect(Math.max(0, x), 0, Math.min(width, endX) - Math.max(0, x), height)
  context.globalAlpha = 1
}
