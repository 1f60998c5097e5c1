/** Not React state, because it changes per frame. */

import { fitSpan, panSpan, type Span, spanContaining, zoomSpan } from './span.ts'

export class SpectrumControl {
  #frequencies: readonly number[] = []
  #span = fitSpan([])
  /** Until the user moves the span, it follows the carriers. */
  #isFitted = true
  readonly #listeners = new Set<() => void>()

  get span(): Span {
    return this.#span
  }

  setFrequencies(frequencies: readonly number[]): void {
    this.#frequencies = frequencies
    if (this.#isFitted) this.#set(fitSpan(frequencies), true)
  }

  reset(): void {
    this.#set(fitSpan(this.#frequencies), true)
  }

  /** Zooms around a share of the span. */
  zoom(factor: number, share: number): void {
    this.#set(zoomSpan(this.#span, factor, share), false)
  }

  pan(khz: number): void {
    this.#set(panSpan(this.#span, khz), false)
  }

  show(frequencies: readonly number[]): void {
    const span = spanContaining(this.#span, frequencies)
    if (span !== this.#span) this.#set(span, false)
  }

  set(span: Span): void {
    this.#set(panSpan(span, 0), false)
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(span: Span, isFitted: boolean): void {
    this.#span = span
    this.#isFitted = isFitted
    for (const listener of this.#listeners) listener()
  }
}
