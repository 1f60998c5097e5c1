/** Records what the player of a page plays. */

import type { Page } from 'playwright-core'

/** Runs in the page before its scripts. */
export const recordSound = `
  const sound = { windows: [], arrivals: [], latencies: [] }
  window.recordedSound = sound
  let analyser = null

  const { connect } = AudioNode.prototype
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      analyser = target.context.createAnalyser()
      analyser.fftSize = 32768
      connect.call(this, analyser)
    }
    return connect.call(this, target, ...rest)
  }

  const Socket = window.WebSocket
  window.WebSocket = class extends Socket {
    constructor(...values) {
      super(...values)
      if (!String(values[0]).includes('/api/audio/listen')) return
      this.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') return
        sound.arrivals.push([new DataView(data).getUint32(0, true), performance.now()])
      })
    }
  }

  setInterval(() => {
    if (analyser === null) return
    const samples = new Float32Array(analyser.fftSize)
    analyser.getFloatTimeDomainData(samples)
    const pcm = Int16Array.from(samples, (sample) => Math.round(sample * 32768))
    sound.windows.push({ at: performance.now(), time: analyser.context.currentTime, samples: pcm })
    const text = document.querySelector('.listening-state')?.textContent ?? ''
    const [, latency] = /(\\d+) ms/.exec(text) ?? []
    if (latency !== undefined) sound.latencies.push([performance.now(), Number(latency)])
  }, 500)`

export interface RecordedSound {
  /** The last 0.7 s of every half second. */
  readonly windows: readonly RecordedWindow[]
  /** Number and time of each frame that arrived. */
  readonly arrivals: readonly (readonly [sequence: number, at: number])[]
  /** Milliseconds that the player shows, with their times. */
  readonly latencies: readonly (readonly [at: number, ms: number])[]
}

export interface RecordedWindow {
  /** Milliseconds on the clock of the page, and seconds on that of the sound. */
  readonly at: number
  readonly time: number
  readonly samples: Float32Array
}

export async function readRecordedSound(page: Page): Promise<RecordedSound> {
  const { windows, ...rest } = await page.evaluate<
    Omit<RecordedSound, 'windows'> & { windows: (Omit<RecordedWindow, 'samples'> & { samples: string })[] }
  >(`(() => {
    const { windows, ...rest } = window.recordedSound
    const encode = ({ buffer }) => {
      const bytes = new Uint8Array(buffer)
      let text = ''
      for (let start = 0; start < bytes.length; start += 8192)
        text += String.fromCharCode(...bytes.subarray(start, start + 8192))
      return btoa(text)
    }
    return { ...rest, windows: windows.map((each) => ({ ...each, samples: encode(each.samples) })) }
  })()`)
  return { ...rest, windows: windows.map((each) => ({ ...each, samples: decode(each.samples) })) }
}

function decode(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index) / 32_768)
}
