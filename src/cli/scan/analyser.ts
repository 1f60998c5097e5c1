/** An analyser that was asked to measure a span. */

import type { MeasuredSweep } from '../../domain/frequencies/analysers/span.ts'

export interface Analyser {
  /** As it identifies itself. */
  readonly name: string
  /** Measures the span once. Null if the analyser has ended the sweep early. */
  sweep(): Promise<MeasuredSweep | null>
  /** Ends a sweep that runs, and gives the instrument back to its user. */
  release(): Promise<void>
}
