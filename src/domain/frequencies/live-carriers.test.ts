import { expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { buildTitles } from '../../../test/support/titles.ts'
import { type Channel, emptyChannel, type Receiver, type Transmitter } from '../equipment/receiver.ts'
import { checkCarriers, mergeSecondCarriers } from './check.ts'
import { type LiveCheckFilter, listLiveCarriers, toLiveCheck } from './live-carriers.ts'
import { builtInProfiles } from './profiles.ts'

const transmitter: Transmitter = {
  ...{ upstream_slot: null, name: 'Vox', battery: 50, audio_level: -20, rf_level: -50, frequency: null },
}

function channel(id: number, frequency: string, fields: Partial<Channel> = {}): Channel {
  return { ...emptyChannel(id, id, id), frequency, transmitter, ...fields }
}

function list(...receivers: Receiver[]) {
  const titles = { titleOf: buildTitles({ 9: 'Nora' }), titleOfPlaceholder: () => '' }
  const lists = { placeholders: [], groups: [], locations: [], profiles: builtInProfiles }
  return listLiveCarriers({ receivers, ...lists, ...titles })
}

const standard: LiveCheckFilter = { level: 'standard', isOnlyOn: false, slots: null }

function kindsOf(receivers: readonly Receiver[], filter: Partial<LiveCheckFilter> = {}): readonly string[] {
  const { carriers, victims } = toLiveCheck(list(...receivers), { ...standard, ...filter })
  return mergeSecondCarriers(checkCarriers(carriers, { victims })).conflicts.map(
    ({ kind, victim, generators }) => `${kind} ${victim} ${generators.join(',')}`,
  )
}

const interference = { state: 'interference' as const, flags: [] }

// Conformance: C-15.1.
it('has the noise of a channel without a transmitter, and foreign RF only there', () => {
  const idle = channel(1, '500.000', { transmitter: null, rf_level: -91 })
  const disturbed = { ...idle, condition: { ...idle.condition, ...interference } }
  expect(list(buildReceiver(1, { channels: [idle] }))).toMatchObject([{ noiseDbm: -91, isOn: false, rfLevel: -91 }])
  expect(list(buildReceiver(1, { channels: [channel(1, '500.000')] }))).toMatchObject([{ noiseDbm: null, isOn: true }])
  expect(kindsOf([buildReceiver(1, { channels: [disturbed] })])).toEqual(['foreign c1 '])
  expect(kindsOf([buildReceiver(1, { channels: [{ ...disturbed, transmitter }] })])).toEqual([])
  const offline = buildReceiver(1, { channels: [disturbed], is_active: false })
  expect(list(offline)).toMatchObject([{ noiseDbm: null, isOn: null }])
  expect(kindsOf([offline])).toEqual([])
})

// Conformance: C-21.27.
it('names a carrier by its title alone', () => {
  const channels = [channel(9, '500.000'), channel(2, '506.000', { name: 'CH 2' }), channel(3, '512.000')]
  expect(list(buildReceiver(1, { channels })).map(({ name }) => name)).toEqual(['CH 2', 'Vox', 'Nora'])
})

it('leaves out transmitters that are off, and uses the guards of the level', () => {
  const receiver = buildReceiver(1, {
    channels: [channel(1, '500.000'), channel(2, '500.100', { transmitter: null }), channel(3, '506.000')],
  })
  const victim = buildReceiver(2, { channels: [channel(4, '494.100')] })
  expect(kindsOf([receiver])).toEqual(['spacing c2 c1'])
  expect(kindsOf([receiver], { isOnlyOn: true })).toEqual([])
  expect(kindsOf([receiver, victim], { isOnlyOn: true, level: 'robust' })).toEqual(['2t3o c3 c1,c4', '2t3o c4 c1,c3'])
})

it('counts a carrier once if the profile of its channels shares it', () => {
  const block = [channel(1, '500.000'), channel(2, '500.000')]
  const spectera = { device_type: 'spectera', model: 'Spectera Base Station' }
  expect(kindsOf([buildReceiver(1, { ...spectera, channels: block })])).toEqual([])
  const wide = block.map((one) => ({ ...one, profile: 'adpsm_wide_4' }))
  expect(kindsOf([buildReceiver(1, { channels: wide })])).toEqual([])
  expect(kindsOf([buildReceiver(1, { channels: block })])).toEqual(['duplicate c2 c1'])
})

// Conformance: C-15.33.
it('uses the band and the transmission mode that a receiver reports', () => {
  const details = { band: 'G51', transmission_mode: 'high_density' as const }
  const receiver = buildReceiver(1, { model: 'ULXD4Q', channels: [channel(1, '600.000', { details })] })
  const [carrier] = list(receiver)
  expect(carrier).toMatchObject({ band: 'G51', profile: { id: 'ulxd_hd' } })
  expect(kindsOf([receiver])).toEqual(['outside_band c1 '])
})

// Conformance: C-15.34.
it('counts the second carrier of frequency diversity as victim and generator, with the id of the channel', () => {
  const details = { second_frequency: '506.000' }
  const diverse = buildReceiver(1, { channels: [channel(1, '480.000', { details }), channel(2, '500.000')] })
  const victim = buildReceiver(2, { channels: [channel(3, '494.000')] })
  expect(kindsOf([diverse, victim]).toSorted()).toEqual(['2t3o c1 c2,c3', '2t3o c3 c2,c1'])
  expect(kindsOf([diverse, victim], { slots: new Set([1]) })).toEqual(['2t3o c1 c2,c3'])
})
