import { expect, test } from 'vitest'
import { toWavBytes, toWavHeader, wavHeaderBytes } from './wav.ts'

// http://soundfile.sapp.org/doc/WaveFormat/
test('the header is that of the canonical format, with the sizes of the file', () => {
  const header = toWavHeader(1000)
  expect(header).toHaveLength(wavHeaderBytes)
  const text = Buffer.from(header)
  expect([text.toString('latin1', 0, 4), text.readUInt32LE(4), text.toString('latin1', 8, 16)]).toEqual([
    'RIFF',
    36 + 2000,
    'WAVEfmt ',
  ])
  expect([text.readUInt16LE(20), text.readUInt16LE(22), text.readUInt32LE(24), text.readUInt32LE(28)]).toEqual([
    1, 1, 48_000, 96_000,
  ])
  expect([
    text.readUInt16LE(32),
    text.readUInt16LE(34),
    text.toString('latin1', 36, 40),
    text.readUInt32LE(40),
  ]).toEqual([2, 16, 'data', 2000])
})

test('samples are little-endian', () => {
  expect([...toWavBytes(Int16Array.of(1, -2, 0x1234))]).toEqual([1, 0, 0xfe, 0xff, 0x34, 0x12])
})
