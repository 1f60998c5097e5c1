/** WAV files: mono PCM16 at 48 kHz, behind a header of 44 bytes. */

export const wavRate = 48_000
export const wavHeaderBytes = 44
const sampleBytes = 2

/** A file that is still written starts with the header of an empty one. */
export function toWavHeader(samples: number): Uint8Array {
  const header = new Uint8Array(wavHeaderBytes)
  const view = new DataView(header.buffer)
  const bytes = samples * sampleBytes
  const word = (offset: number, text: string) => {
    for (let i = 0; i < 4; i++) header[offset + i] = text.charCodeAt(i)
  }
  word(0, 'RIFF')
  view.setUint32(4, wavHeaderBytes - 8 + bytes, true)
  word(8, 'WAVE')
  word(12, 'fmt ')
  view.setUint32(16, 16, true)
  // PCM, mono.
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, wavRate, true)
  view.setUint32(28, wavRate * sampleBytes, true)
  view.setUint16(32, sampleBytes, true)
  view.setUint16(34, 8 * sampleBytes, true)
  word(36, 'data')
  view.setUint32(40, bytes, true)
  return header
}

/** Little-endian, whatever the machine. */
export function toWavBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * sampleBytes)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < samples.length; i++) view.setInt16(i * sampleBytes, samples[i] as number, true)
  return bytes
}
