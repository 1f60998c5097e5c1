/** Simulated receivers of three protocols, and the packs on their channels, whose changes are noted in ledgers. */

import { startSsc1Simulator } from '../../../simulators/sennheiser/ssc1.ts'
import { createShow } from '../../../simulators/show/show.ts'
import { startStringsSimulator } from '../../../simulators/shure/strings.ts'
import { now } from '../../../src/platform/clock.ts'
import { onTestEnd } from '../cleanup.ts'
import { Ledger, noiseDbm, type PackState, switchedOff } from './ledger.ts'

export interface StagePack {
  /** The name of its channel. */
  readonly name: string
  readonly ledger: Ledger
  /** Changes what the receiver reports of the pack from now on. */
  set(change: Partial<PackState>): void
}

/**
 * Starts a receiver with Shure's command strings; channel 1 has the first name. `firstNumber` makes its addresses differ
 * from those of other receivers.
 */
export async function startStringsReceiver(family: 'ulxd' | 'ad', firstNumber: number, names: readonly string[]) {
  const show = createShow({ story: false, manufacturers: { shure: 0 }, firstNumber })
  const receiver = await startStringsSimulator({ family, show, name: family.toUpperCase() })
  onTestEnd(() => receiver.close())
  const packs = names.map((name, index) => {
    const apply = ({ isOn, rf, audio, battery, isMuted, hasEncryptionError, hasInterference }: PackState) =>
      receiver.change(index + 1, {
        ...{ name, transmitter: isOn, battery, rf_level: isOn ? rf : noiseDbm, audio_level: isOn ? audio : silentDbfs },
        ...{ transmitterMuted: isMuted, encryptionError: hasEncryptionError, interference: hasInterference },
      })
    return createPack(name, apply)
  })
  return { url: receiver.url, packs }
}

/** Starts a receiver with Sennheiser's SSC 1. */
export async function startSsc1Receiver(names: readonly [string, string]) {
  const receiver = await startSsc1Simulator({ mac: '00:1B:66:0E:0E:01' })
  onTestEnd(() => receiver.close())
  const packs = names.map((name, index) => {
    const channel = index + 1
    let isLinked = true
    const apply = ({ isOn, rf, audio, battery, isMuted }: PackState) => {
      if (isOn !== isLinked) receiver.setLinked(channel, isOn)
      isLinked = isOn
      receiver.set({
        [`/rx${channel}/name`]: name,
        [`/mates/tx${channel}/battery/gauge`]: battery,
        [`/mates/tx${channel}/battery/lifetime`]: 6 * battery,
        [`/mates/tx${channel}/mute`]: isMuted,
        [`/m/rx${channel}/rssi`]: isOn ? rf : noiseDbm,
        [`/m/rx${channel}/divi`]: isOn ? 1 : 0,
        [`/m/rx${channel}/af`]: isOn ? audio : silentDbfs,
      })
    }
    return createPack(name, apply)
  })
  return { url: receiver.url, packs }
}

const silentDbfs = -90

function createPack(name: string, apply: (state: PackState) => void): StagePack {
  const ledger = new Ledger()
  apply(switchedOff)
  return { name, ledger, set: (change) => apply(ledger.note(now(), change)) }
}
