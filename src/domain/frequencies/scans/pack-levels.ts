/**
 * The stored form of the levels of a scan. Each point consists of two numbers: the differences of its frequency (kHz)
 * and its level (tenths of a dB) from the previous point. Numbers have seven bits per byte, lowest first; the highest
 * bit is set in all bytes but the last. Signed numbers alternate: 0, -1, 1, -2 and so on. Most points take two bytes.
 */

import type { Levels } from './scan.ts'

/** A difference of frequencies takes at most 5 bytes, that of levels at most 3. */
const maxPointBytes = 8

export function packLevels({ khz, tenthsDbm }: Levels): Uint8Array {
  const bytes = new Uint8Array(khz.length * maxPointBytes)
  let length = 0
  const write = (value: number) => {
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) bytes[length++] = (rest & 0x7f) | 0x80
    bytes[length++] = rest
  }
  let [lastKhz, lastLevel] = [0, 0]
  for (const [index, frequency] of khz.entries()) {
    const level = tenthsDbm[index] ?? 0
    const change = level - lastLevel
    write(frequency - lastKhz)
    write(change < 0 ? -2 * change - 1 : 2 * change)
    lastKhz = frequency
    lastLevel = level
  }
  return bytes.slice(0, length)
}

export function unpackLevels(bytes: Uint8Array, points: number): Levels {
  const khz = new Uint32Array(points)
  const tenthsDbm = new Int16Array(points)
  let at = 0
  const read = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
  }
  let [frequency, level] = [0, 0]
  for (let index = 0; index < points; index += 1) {
    frequency += read()
    const change = read()
    level += change & 1 ? -(change + 1) / 2 : change / 2
    khz[index] = frequency
    tenthsDbm[index] = level
  }
  return { khz, tenthsDbm }
}
