/** Where clips are drawn in a strip, and which one is meant. */

import type { ClipBody } from '../../src/contract/clips.ts'
import type { Scale } from './marks.ts'
import { areasOf, type Lane, type Lanes } from './raster.ts'

export interface ClipMark {
  readonly clip: ClipBody
  /** CSS pixels from the left edge. */
  readonly left: number
  readonly right: number
}

/** CSS pixels. A clip stays visible at every zoom. */
const leastWidth = 8

/** The lane of the audio; in a strip with a single lane, its lower half, so that RF stays visible. */
export function clipLane(strip: { readonly top: number; readonly height: number }, lanes: Lanes): Lane {
  const { audio } = areasOf({ ...strip, lanes, scale: 1 })
  return lanes === 1 ? { top: (audio.top + audio.bottom) / 2, bottom: audio.bottom } : audio
}

export function listClipMarks(clips: readonly ClipBody[], { from, msPerPixel, width }: Scale): readonly ClipMark[] {
  return clips.flatMap((clip) => {
    const left = (Date.parse(clip.from) - from) / msPerPixel
    const right = Math.max(left + leastWidth, (Date.parse(clip.to) - from) / msPerPixel)
    return right < 0 || left > width ? [] : [{ clip, left, right }]
  })
}

/** The shortest of those at `x`. */
export function findClipMark(marks: readonly ClipMark[], x: number): ClipMark | null {
  const found = marks.filter(({ left, right }) => left <= x && x <= right)
  return found.sort((a, b) => a.right - a.left - (b.right - b.left))[0] ?? null
}
