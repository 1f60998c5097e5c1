/**
 * The detectors of audio faults: faults that they miss, false alarms, and the processor time for 64 channels. Then the
 * levels of 400 channels beside audio.
 */

import { demoVoices, synthesizeVoice } from '../simulators/audio/voices.ts'
import { ChannelDetectors } from '../src/domain/audio/faults/channel-detectors.ts'
import { type AudioFault, type AudioFinding, audioFaults } from '../src/domain/audio/faults/finding.ts'
import { judgeDropout } from '../src/domain/audio/faults/judge-dropout.ts'
import { measureAudioLoad } from './audio-load.ts'
import { createSounds, type Sound } from './audio-set.ts'
import type { Bench, Figure } from './harness.ts'

const rate = 48_000
const blockLength = 960
const cpuChannels = 64
const cpuSeconds = 20
/** A finding may begin this far from its fault: offsets are measured over 2 s. */
const toleranceSeconds = 2

export const audio = (nodeOptions: readonly string[]): Bench => ({
  name: 'audio',
  runs: 1,
  async open(atEnd) {
    return {
      measure: async () => [...measureDetections(), measureCpu(), ...(await measureAudioLoad(atEnd, nodeOptions))],
    }
  },
})

function measureDetections(): readonly Figure[] {
  const missed: Figure[] = []
  const falseAlarms = new Map<string, number>()
  let cleanHours = 0
  for (const sound of createSounds()) {
    if (sound.kind === null) {
      const findings = detect(sound, { from: 0, until: sound.samples.length })
      const hours = sound.samples.length / rate / 3600
      cleanHours += hours
      for (const { kind } of findings) falseAlarms.set(kind, (falseAlarms.get(kind) ?? 0) + 1)
      const count = findings.length
      if (count > 0)
        missed.push({
          name: `all detectors on ${sound.name}, false alarms`,
          unit: '/h',
          ours: count / hours,
          reference: null,
        })
      continue
    }
    const length = Math.floor(sound.samples.length / sound.faults.length)
    // Detectors start anew for each fault, so that one that never ends does not count for all.
    const found = sound.faults.filter((fault, index) =>
      detect(sound, { from: index * length, until: (index + 1) * length }).some(
        (finding) => finding.kind === sound.kind && isAt(finding, fault),
      ),
    )
    const ours = 100 * (1 - found.length / sound.faults.length)
    missed.push({
      name: `${sound.kind}, ${sound.name}, missed of ${sound.faults.length}`,
      unit: '%',
      ours,
      reference: null,
    })
  }
  const alarms = audioFaults.map((kind: AudioFault) => ({
    ...{ name: `${kind}, false alarms in ${Math.round(cleanHours * 60)} min`, unit: '/h' as const, reference: null },
    ours: (falseAlarms.get(kind) ?? 0) / cleanHours,
  }))
  return [...missed, ...alarms]
}

/** Returns the findings that have begun, of dropouts those that are confirmed without RF. */
function detect(
  { samples, lost }: Sound,
  part: { readonly from: number; readonly until: number },
): readonly AudioFinding[] {
  const detectors = new ChannelDetectors()
  const findings: AudioFinding[] = []
  for (let start = part.from; start + blockLength <= part.until; start += blockLength) {
    const end = start + blockLength
    const block = {
      at: (start / rate) * 1000,
      samples: samples.subarray(start, end),
      lost: lost
        .filter(([from, until]) => from < end && until > start)
        .map(([from, until]) => [from - start, until - start] as const),
    }
    findings.push(...detectors.add(block).filter(isAlarm))
  }
  return findings
}

function isAlarm(finding: AudioFinding): boolean {
  if (finding.kind !== 'audio_dropout') return finding.until === null
  if (finding.until === null) return false
  const now = finding.until + 3000
  return judgeDropout(finding, { now, weakRf: null, mutes: [] }).is === 'dropout'
}

function isAt({ from }: AudioFinding, fault: Sound['faults'][number]): boolean {
  return from / 1000 > fault.from - toleranceSeconds && from / 1000 < fault.until
}

/** Blocks of 20 ms of 16-bit samples of all channels in turn, as they arrive. */
function measureCpu(): Figure {
  const voice = synthesizeVoice({ ...(demoVoices[0] as (typeof demoVoices)[number]), seconds: cpuSeconds })
  const samples = Int16Array.from(voice, (value) => value * 32_767)
  const channels = Array.from({ length: cpuChannels }, () => new ChannelDetectors())
  const play = (from: number, until: number) => {
    for (let start = from; start < until; start += blockLength) {
      const block = { at: (start / rate) * 1000, samples: samples.subarray(start, start + blockLength), lost: [] }
      for (const detectors of channels) detectors.add(block)
    }
  }
  const warmUp = rate
  play(0, warmUp)
  const before = process.cpuUsage()
  play(warmUp, samples.length)
  const { user, system } = process.cpuUsage(before)
  const seconds = (samples.length - warmUp) / rate
  const ours = (100 * (user + system)) / 1_000_000 / seconds
  return { name: `${cpuChannels} channels, all detectors, of one core`, unit: '%', ours, reference: null }
}
