import type { ShownCarrier } from './carriers.ts'
import { readColours, type SpectrumColours } from './colours.ts'
import type { SpectrumControl } from './control.ts'
import {
  drawBands,
  drawCarriers,
  drawGrid,
  drawLevels,
  drawLiveSpectrum,
  drawNames,
  drawProducts,
  drawTraces,
  drawTvChannels,
  headDbm,
  type PlacedNames,
  placeNames,
  type Scene,
} from './drawing.ts'
import { dbmToY, khzToX, nearest, plotOf, type Scale, xToKhz } from './layout.ts'
import type { CarrierLevels } from './live-levels.ts'
import type { LiveSpectrum } from './live-spectrum.ts'

const emptyScene: Scene = {
  ...{ carriers: [], victims: new Map(), highlighted: new Set(), hits: [], products: new Int32Array() },
  ...{ noise: new Map(), tvChannels: [], tvInUse: new Set(), traces: [], bands: [] },
}

interface Levels {
  of(carrier: ShownCarrier): CarrierLevels
  subscribe(listener: () => void): () => void
}

interface Shown {
  readonly control: SpectrumControl
  readonly levels: Levels
  readonly live: LiveSpectrum
}

export class SpectrumCanvas {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D | null
  readonly #control: SpectrumControl
  readonly #levels: Levels
  readonly #live: LiveSpectrum
  readonly #sized: ResizeObserver
  readonly #unsubscribe: readonly (() => void)[]
  #scene = emptyScene
  #frequencies = new Float64Array()
  #names: PlacedNames | null = null
  #colours: SpectrumColours | null = null
  #size = { width: 0, height: 0 }
  #frame = 0

  constructor(canvas: HTMLCanvasElement, { control, levels, live }: Shown) {
    this.#canvas = canvas
    this.#context = canvas.getContext('2d', { alpha: false })
    this.#control = control
    this.#levels = levels
    this.#live = live
    this.#sized = new ResizeObserver(() => {
      this.#size = { width: canvas.clientWidth, height: canvas.clientHeight }
      this.#wake()
    })
    this.#sized.observe(canvas)
    this.#unsubscribe = [control, levels, live].map(({ subscribe }) => subscribe(() => this.#wake()))
  }

  get width(): number {
    return this.#size.width
  }

  setScene(scene: Scene): void {
    this.#scene = scene
    this.#frequencies = Float64Array.from(scene.carriers, ({ khz }) => khz)
    this.#wake()
  }

  /** Call after the colours or the typeface have changed. */
  readonly recolour = (): void => {
    this.#colours = null
    this.#names = null
    this.#wake()
  }

  share(clientX: number): number {
    return (clientX - this.#canvas.getBoundingClientRect().left) / Math.max(1, this.#size.width)
  }

  /** `reach`: tolerance in CSS pixels. */
  locate(clientX: number, reach: number): string | null {
    const scale = this.#scale()
    const khz = xToKhz(this.share(clientX) * scale.width, scale)
    const index = nearest(this.#frequencies, khz, (reach / Math.max(1, scale.width)) * scale.widthKhz)
    return index === null ? null : (this.#scene.carriers[index]?.id ?? null)
  }

  positionOf(id: string): { readonly x: number; readonly y: number } | null {
    const carrier = this.#scene.carriers.find((candidate) => candidate.id === id)
    if (carrier === undefined) return null
    const x = khzToX(carrier.khz, this.#scale())
    if (x < 0 || x > this.#size.width) return null
    return { x, y: dbmToY(headDbm(carrier, this.#levels.of(carrier)), plotOf(this.#size.height)) }
  }

  close(): void {
    cancelAnimationFrame(this.#frame)
    this.#sized.disconnect()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  #scale(): Scale {
    return { ...this.#control.span, width: this.#size.width }
  }

  #wake(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint())
  }

  #paint(): void {
    this.#frame = 0
    const { width, height } = this.#size
    const context = this.#context
    if (context === null || width < 1 || height < 1) return
    this.#resize()
    this.#colours ??= readColours()
    const stage = {
      ...{ context, scale: this.#scale(), height, plot: plotOf(height), colours: this.#colours },
      levelsOf: this.#levels.of,
    }
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    context.fillStyle = this.#colours.page
    context.fillRect(0, 0, width, height)
    drawBands(stage, this.#scene)
    drawGrid(stage)
    drawTvChannels(stage, this.#scene)
    drawTraces(stage, this.#scene)
    drawLiveSpectrum(stage, this.#live)
    drawProducts(stage, this.#scene)
    drawCarriers(stage, this.#scene)
    this.#names = placeNames(stage, this.#scene, this.#names)
    drawNames(stage, this.#scene, this.#names)
    drawLevels(stage)
  }

  #resize(): void {
    const [width, height] = [this.#size.width, this.#size.height].map((length) => Math.round(length * devicePixelRatio))
    if (this.#canvas.width === width && this.#canvas.height === height) return
    this.#canvas.width = width as number
    this.#canvas.height = height as number
  }
}
