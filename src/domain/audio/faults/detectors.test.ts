import { describe, expect, test } from 'vitest'
import { type AudioBlock, sampleRate } from './audio-frame.ts'
import { ChannelDetectors } from './channel-detectors.ts'
import type { AudioFault, AudioFinding } from './finding.ts'

type Wave = (seconds: number) => number

const silent: Wave = () => 0
const start = 1_700_000_000_000

function sine(hz: number, dbfs: number): Wave {
  const level = 10 ** (dbfs / 20)
  return (time) => level * Math.sin(2 * Math.PI * hz * time)
}

/** White noise of that RMS. */
function noise(dbfs: number): Wave {
  let state = 12_345
  const level = Math.sqrt(3) * 10 ** (dbfs / 20)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state / 2 ** 31) * level
  }
}

const sum =
  (...waves: Wave[]): Wave =>
  (time) =>
    waves.reduce((total, wave) => total + wave(time), 0)

/** Plays waves one after the other in blocks of 20 ms, and returns the findings with times in ms from the start. */
function play(parts: readonly (readonly [seconds: number, wave: Wave])[], lostMs: readonly [number, number][] = []) {
  const samples = parts.flatMap(([seconds, wave]) =>
    Array.from({ length: Math.round(seconds * sampleRate) }, (_, i) => wave(i / sampleRate)),
  )
  const detectors = new ChannelDetectors()
  const findings: AudioFinding[] = []
  for (let from = 0; from + 960 <= samples.length; from += 960) {
    const lost = lostMs.map(([a, b]) => [a * 48 - from, b * 48 - from] as const)
    const block: AudioBlock = {
      at: start + from / 48,
      samples: Float32Array.from(samples.slice(from, from + 960)),
      lost,
    }
    findings.push(...detectors.add(block))
  }
  return findings.map(({ kind, from, until }) => ({
    kind,
    from: Math.round(from - start),
    until: until === null ? null : Math.round(until - start),
  }))
}

const ofKind = (kind: AudioFault, findings: ReturnType<typeof play>) => findings.filter((each) => each.kind === kind)

const voice = sine(200, -20)

// Conformance: C-27.70.
describe('dropouts', () => {
  test('finds sound that breaks off to zeros for 6 ms, and reports it once', () => {
    const findings = play([
      [0.5, voice],
      [0.006, silent],
      [0.5, voice],
    ])
    expect(ofKind('audio_dropout', findings)).toEqual([{ kind: 'audio_dropout', from: 500, until: 506 }])
  })

  test('reports a longer one when it begins and when it ends', () => {
    const findings = play([
      [0.5, voice],
      [0.1, silent],
      [0.5, voice],
    ])
    expect(ofKind('audio_dropout', findings).map(({ until }) => until)).toEqual([null, 600])
  })

  test('ignores zeros of 3 ms', () => {
    expect(
      ofKind(
        'audio_dropout',
        play([
          [0.5, voice],
          [0.003, silent],
          [0.5, voice],
        ]),
      ),
    ).toEqual([])
  })

  test('finds silence that is not zero only after 40 ms', () => {
    const quiet = noise(-80)
    expect(
      ofKind(
        'audio_dropout',
        play([
          [0.5, voice],
          [0.03, quiet],
          [0.5, voice],
        ]),
      ),
    ).toEqual([])
    expect(
      ofKind(
        'audio_dropout',
        play([
          [0.5, voice],
          [0.06, quiet],
          [0.5, voice],
        ]),
      ),
    ).toHaveLength(2)
  })

  test('ignores sound that decays within 20 ms', () => {
    const decaying: Wave = (time) => sine(200, -20)(time) * 10 ** ((-45 * time) / 0.02 / 20)
    expect(
      ofKind(
        'audio_dropout',
        play([
          [0.5, voice],
          [0.02, decaying],
          [0.2, silent],
          [0.5, voice],
        ]),
      ),
    ).toEqual([])
  })

  test('ignores quiet sound that breaks off', () => {
    expect(
      ofKind(
        'audio_dropout',
        play([
          [0.5, sine(200, -45)],
          [0.2, silent],
          [0.5, voice],
        ]),
      ),
    ).toEqual([])
  })

  test('ignores samples that the network lost', () => {
    const parts = [
      [0.5, voice],
      [0.02, silent],
      [0.5, voice],
    ] as const
    expect(ofKind('audio_dropout', play(parts, [[500, 520]]))).toEqual([])
    expect(ofKind('audio_dropout', play(parts, [[495, 525]]))).toEqual([])
    expect(ofKind('audio_dropout', play(parts))).toHaveLength(2)
  })

  test('finds a voice that becomes noise within 2 ms', () => {
    const [begun, ended] = ofKind(
      'audio_dropout',
      play([
        [0.5, voice],
        [0.2, noise(-20)],
        [0.5, voice],
      ]),
    )
    expect(begun?.from).toBeGreaterThan(497)
    expect(begun?.from).toBeLessThan(503)
    expect(ended?.until).toBe(700)
  })

  test('ignores a voice that becomes a sibilant within 30 ms', () => {
    const hiss = noise(-20)
    const into: Wave = (time) => voice(time) * (1 - time / 0.03) + hiss(time) * (time / 0.03)
    const findings = play([
      [0.5, voice],
      [0.03, into],
      [0.2, hiss],
      [0.5, voice],
    ])
    expect(ofKind('audio_dropout', findings)).toEqual([])
  })
})

describe('clipping', () => {
  const clipped: Wave = (time) => Math.max(-1, Math.min(1, 2 * Math.sin(2 * Math.PI * 300 * time)))

  test('finds runs of samples at full scale', () => {
    const findings = ofKind(
      'audio_clipping',
      play([
        [0.5, voice],
        [0.5, clipped],
        [2, voice],
      ]),
    )
    expect(findings).toHaveLength(2)
    expect(findings[0]?.from).toBe(500)
    expect(findings[1]?.until).toBeGreaterThan(990)
  })

  test('ignores a tone just below full scale', () => {
    expect(ofKind('audio_clipping', play([[2, sine(300, -0.2)]]))).toEqual([])
  })

  test('ignores fewer than three runs in a second', () => {
    const burst = (seconds: number): [number, Wave] => [seconds, clipped]
    expect(
      ofKind('audio_clipping', play([[1, voice], burst(0.002), [1.5, voice], burst(0.002), [1.5, voice]])),
    ).toEqual([])
  })
})

describe('silence', () => {
  test('begins after 10 s below -60 dBFS, and ends with half a second of sound', () => {
    const findings = ofKind(
      'silence',
      play([
        [1, voice],
        [12, noise(-70)],
        [0.2, voice],
        [1, noise(-70)],
        [1, voice],
      ]),
    )
    expect(findings).toEqual([
      { kind: 'silence', from: 1000, until: null },
      { kind: 'silence', from: 1000, until: 14_200 },
    ])
  })

  test('ignores a pause of 9 s', () => {
    expect(
      ofKind(
        'silence',
        play([
          [1, voice],
          [9, noise(-70)],
          [1, voice],
        ]),
      ),
    ).toEqual([])
  })
})

describe('hum', () => {
  const room = noise(-75)
  const hum = (hz: number) => sum(room, sine(hz, -52), sine(2 * hz, -54), sine(3 * hz, -58), sine(5 * hz, -60))

  test.each([50, 60])('finds %i Hz and harmonics in 5 s without speech', (hz) => {
    expect(ofKind('hum', play([[8, hum(hz)]]))).toEqual([{ kind: 'hum', from: 0, until: null }])
  })

  test('ends in a second without hum and speech', () => {
    expect(
      ofKind(
        'hum',
        play([
          [7, hum(50)],
          [3, room],
        ]),
      ).map(({ until }) => until),
    ).toEqual([null, 7000])
  })

  test('ignores noise, a single tone, and notes of another pitch', () => {
    const notes = sum(room, sine(55, -52), sine(110, -54), sine(165, -58), sine(275, -60))
    for (const wave of [room, sum(room, sine(50, -50)), notes]) expect(ofKind('hum', play([[8, wave]]))).toEqual([])
  })
})

describe('noise', () => {
  test('finds half a second of it', () => {
    const findings = ofKind(
      'noise',
      play([
        [1, voice],
        [0.5, noise(-30)],
        [1, voice],
      ]),
    )
    expect(findings.map(({ until }) => until)).toEqual([null, 1500])
  })

  test('ignores sibilants of 300 ms, and the noise of a room', () => {
    expect(
      ofKind(
        'noise',
        play([
          [1, voice],
          [0.3, noise(-30)],
          [1, voice],
          [2, noise(-60)],
        ]),
      ),
    ).toEqual([])
  })
})

describe('clicks', () => {
  const click: Wave = (time) => (time === 0 ? 0.5 : 0)

  test('finds a single sample', () => {
    const quiet = noise(-60)
    const findings = ofKind(
      'clicks',
      play([
        [1, quiet],
        [0.001, sum(quiet, click)],
        [4, quiet],
      ]),
    )
    expect(findings).toEqual([
      { kind: 'clicks', from: 1000, until: null },
      { kind: 'clicks', from: 1000, until: 1000 },
    ])
  })

  test('ignores the edges of lost samples', () => {
    const loud = sine(200, -6)
    const findings = play(
      [
        [1.00125, loud],
        [0.005, silent],
        [1, loud],
      ],
      [[1001, 1007]],
    )
    expect(ofKind('clicks', findings)).toEqual([])
  })

  // The last of these begin shortly before the end of a frame.
  test.each([0, 3, 8.5, 9.5, 9.9])('ignores noise that begins %s ms after a frame', (ms) => {
    const findings = play([
      [1 + ms / 1000, noise(-60)],
      [0.5, noise(-20)],
    ])
    expect(ofKind('clicks', findings)).toEqual([])
  })
})

describe('DC', () => {
  test('finds an offset of 2% after 2 s', () => {
    const offset: Wave = (time) => voice(time) + 0.02
    const findings = ofKind(
      'dc',
      play([
        [2, voice],
        [4, offset],
        [4, voice],
      ]),
    )
    expect(findings.map(({ from, until }) => [from, until])).toEqual([
      [2000, null],
      [2000, 6000],
    ])
  })

  test('ignores 0.5%', () => {
    expect(ofKind('dc', play([[6, (time) => voice(time) + 0.005]]))).toEqual([])
  })
})

test('a gap between blocks ends what was found, and starts anew', () => {
  const detectors = new ChannelDetectors()
  const hiss = Float32Array.from({ length: 48_000 }, noise(-20))
  const [begun] = detectors.add({ at: start, samples: hiss, lost: [] }).filter(({ kind }) => kind === 'noise')
  expect(begun?.until).toBeNull()
  const ended = detectors.add({ at: start + 5000, samples: hiss.subarray(0, 960), lost: [] })
  expect(ended).toContainEqual({ kind: 'noise', from: start, until: start + 990 })
})

test('16-bit samples give the same findings as floats', () => {
  const wave = Float32Array.from({ length: 96_000 }, (_, i) => (i > 48_000 && i < 52_000 ? 0 : voice(i / sampleRate)))
  const words = Int16Array.from(wave, (value) => Math.round(value * 32_768))
  const add = (samples: Float32Array | Int16Array) => new ChannelDetectors().add({ at: start, samples, lost: [] })
  expect(add(words)).toEqual(add(wave))
  expect(add(words).map(({ kind }) => kind)).toContain('audio_dropout')
})
