/** Draws battery and RF level of a channel at the lower edge of its button. */

import { isCurrent, type SlotStatus } from './view.ts'

export interface Meters {
  /** Lit segments out of 5; null: unknown. */
  readonly battery: number | null
  readonly rf: number | null
}

const segments = 5
/** RF levels over which one more segment is lit. */
const rfSteps = [-90, -80, -70, -60, -50]

/** Reduces the readings to what is visible, so that a button is drawn again only when it looks different. */
export function metersOf(status: SlotStatus | undefined, isConnected: boolean): Meters {
  if (status === undefined || !isConnected || !isCurrent(status) || status.battery === null) {
    return { battery: null, rf: null }
  }
  return { battery: status.battery.bars, rf: rfSegments(status) }
}

function rfSegments({ rfDbm, rfPercent }: SlotStatus): number | null {
  if (rfDbm !== null) return rfSteps.filter((step) => rfDbm >= step).length
  return rfPercent === null ? null : Math.ceil(rfPercent / (100 / segments))
}

interface Picture {
  /** Base64 of RGBA. */
  readonly imageBuffer: string
  readonly imageBufferEncoding: { readonly pixelFormat: 'RGBA' }
  readonly imageBufferPosition: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
}

/** Returns two rows of segments, battery above RF, for the lower edge of a button; unlit segments are dimmed. */
export function drawMeters(meters: Meters, button: { readonly width: number; readonly height: number }): Picture {
  const row = Math.max(2, Math.floor(button.height / 18))
  const gap = Math.max(1, Math.floor(row / 2))
  const [width, height] = [button.width, 2 * row + gap]
  const pixels = Buffer.alloc(width * height * 4)
  const rows = [meters.battery, meters.rf]
  for (const [index, lit] of rows.entries()) {
    for (let segment = 0; segment < segments && lit !== null; segment += 1) {
      const [from, to] = [
        Math.floor((segment * width) / segments) + 1,
        Math.floor(((segment + 1) * width) / segments) - 1,
      ]
      for (let y = index * (row + gap); y < index * (row + gap) + row; y += 1) {
        for (let x = from; x < to; x += 1)
          pixels.writeUInt32BE(segment < lit ? 0xffffffff : 0xffffff40, (y * width + x) * 4)
      }
    }
  }
  return {
    imageBuffer: pixels.toString('base64'),
    imageBufferEncoding: { pixelFormat: 'RGBA' },
    imageBufferPosition: { x: 0, y: button.height - height, width, height },
  }
}
