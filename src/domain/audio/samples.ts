/** Samples as integers of 24 bits: those of L16 are shifted, so that they return to 16 bits unchanged. */

import type { SampleFormat, StreamEncoding } from './audio-stream.ts'

export const fullScale = 2 ** 23

/** Copies one channel of interleaved samples. `into` is written from `at` on, and wraps around. */
export type CopyChannel = (bytes: Uint8Array, channel: number, channels: number, into: Int32Array, at: number) => void

export function bytesPerSample(format: StreamEncoding | SampleFormat): 2 | 3 | 4 {
  if (format === 'L16' || format === 's16le') return 2
  return format === 's32le' ? 4 : 3
}

/** One loop for each format: all samples of all channels pass here. */
export const copyChannel: Readonly<Record<StreamEncoding | SampleFormat, CopyChannel>> = {
  L16(bytes, channel, channels, into, at) {
    const step = 2 * channels
    let index = at
    for (let i = 2 * channel; i < bytes.length; i += step) {
      into[index] = (((bytes[i] as number) << 24) | ((bytes[i + 1] as number) << 16)) >> 8
      if (++index === into.length) index = 0
    }
  },
  L24(bytes, channel, channels, into, at) {
    const step = 3 * channels
    let index = at
    for (let i = 3 * channel; i < bytes.length; i += step) {
      into[index] =
        (((bytes[i] as number) << 24) | ((bytes[i + 1] as number) << 16) | ((bytes[i + 2] as number) << 8)) >> 8
      if (++index === into.length) index = 0
    }
  },
  s16le(bytes, channel, channels, into, at) {
    const step = 2 * channels
    let index = at
    for (let i = 2 * channel; i < bytes.length; i += step) {
      into[index] = (((bytes[i + 1] as number) << 24) | ((bytes[i] as number) << 16)) >> 8
      if (++index === into.length) index = 0
    }
  },
  s24le(bytes, channel, channels, into, at) {
    const step = 3 * channels
    let index = at
    for (let i = 3 * channel; i < bytes.length; i += step) {
      into[index] =
        (((bytes[i + 2] as number) << 24) | ((bytes[i + 1] as number) << 16) | ((bytes[i] as number) << 8)) >> 8
      if (++index === into.length) index = 0
    }
  },
  s32le(bytes, channel, channels, into, at) {
    const step = 4 * channels
    let index = at
    for (let i = 4 * channel; i < bytes.length; i += step) {
      into[index] =
        (((bytes[i + 3] as number) << 24) | ((bytes[i + 2] as number) << 16) | ((bytes[i + 1] as number) << 8)) >> 8
      if (++index === into.length) index = 0
    }
  },
}

/** Rounds a sample to 16 bits. */
export function toInt16(sample: number): number {
  const rounded = Math.round(sample / 256)
  return rounded > 32_767 ? 32_767 : rounded < -32_768 ? -32_768 : rounded
}
