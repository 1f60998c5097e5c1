/** The marks of events on a strip or in the row above all strips: where they are drawn, and which one is meant. */

import type { EventBody } from '../../src/contract/history.ts'
import { endOf, startOf } from '../parts/events.ts'

export interface Mark {
  readonly event: EventBody
  readonly count: number
  /** CSS pixels from the left edge; ends within the range. */
  readonly x: number
  readonly endX: number
}

export interface Scale {
  /** Epoch ms at the left edge. */
  readonly from: number
  readonly msPerPixel: number
  readonly width: number
  /** Epoch ms */
  readonly now: number
}

/** CSS pixels. Closer marks are drawn as one. */
const nearestPx = 14

const urgency = { critical: 2, warning: 1, info: 0 } as const

/** `events` are in the order of their time. */
export function listMarks(events: readonly EventBody[], { from, msPerPixel, width, now }: Scale): readonly Mark[] {
  const marks: Mark[] = []
  for (const event of events) {
    const start = startOf(event)
    const x = (start - from) / msPerPixel
    const endX = Math.max(x, ((endOf(event, now) ?? start) - from) / msPerPixel)
    if (x > width + nearestPx || endX < -nearestPx) continue
    const before = marks.at(-1)
    if (before === undefined || x - before.x >= nearestPx) marks.push({ event, count: 1, x, endX })
    else marks[marks.length - 1] = joined(before, event, endX)
  }
  return marks
}

function joined(before: Mark, event: EventBody, endX: number): Mark {
  const isWorse = weightOf(event) > weightOf(before.event)
  return {
    ...before,
    event: isWorse ? event : before.event,
    count: before.count + 1,
    endX: Math.max(before.endX, endX),
  }
}

/** An event of the same severity never covers a marker of a user. */
function weightOf({ severity, kind }: EventBody): number {
  return urgency[severity] + (kind === 'marker' ? 0.5 : 0)
}

/** The nearest mark within `reach` pixels, otherwise the shortest range that contains `x`. */
export function findMark(marks: readonly Mark[], x: number, reach: number): Mark | null {
  let found: Mark | null = null
  for (const mark of marks) {
    const distance = Math.abs(mark.x - x)
    if (distance <= reach && distance < Math.abs((found?.x ?? Number.POSITIVE_INFINITY) - x)) found = mark
  }
  if (found !== null) return found
  const ranges = marks.filter(({ x: start, endX }) => start <= x && x <= endX && endX - start > reach)
  return ranges.sort((a, b) => a.endX - a.x - (b.endX - b.x))[0] ?? null
}
