import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ChannelBody } from '../../contract/channels.ts'
import {
  type ConfirmedReceiver,
  confirmationLabels,
  confirmationText,
  confirmationUrl,
  createConfirmation,
} from './confirmation.ts'

const channel = {
  ...{ name: 'Nora', frequency: '606.500', rf_level: -60, audio_level: null },
  details: { antennas: 'A', quality: null },
  transmitter: { name: 'Nora', battery: 80, details: { battery_minutes: 320, muted: false } },
} as ChannelBody
const receiver: ConfirmedReceiver = {
  ...{ manufacturer: 'shure', model: 'ULXD4Q', device_type: 'ulxd', firmware_version: '2.7.6.0' },
  channels: [channel],
  sources: ['tcp://10.0.0.21:2202', 'https://10.0.0.9:10000'],
}
const confirmation = createConfirmation(receiver, '1.1.0')

// Conformance: C-24.63.
describe('the form that confirms a model', () => {
  it('lists the kinds of values that the receiver reports, without names and addresses', () => {
    expect(confirmation).toMatchObject({
      ...{ title: 'Confirmed: ULXD4Q 2.7.6.0', model: 'ULXD4Q', firmware: '2.7.6.0', version: '1.1.0' },
      connection: 'tcp://, https://',
    })
    const values = ['Model and firmware', 'Names', 'Frequencies', 'RF levels', 'Antennas in use', 'Battery']
    expect(confirmation.values.split('\n')).toEqual(
      [...values, 'Battery minutes', 'Mute'].map((value) => `- [ ] ${value}`),
    )
    expect(JSON.stringify(confirmation)).not.toMatch(/Nora|10\.0\.0|606/)
  })

  it('names the family of a receiver that reports no model', () => {
    const unnamed = createConfirmation({ ...receiver, model: null, firmware_version: null }, '1.1.0')
    expect(unnamed).toMatchObject({ title: 'Confirmed: shure ulxd', model: 'shure ulxd', firmware: '' })
  })

  it('is a link that fills in every field of the form, and the same text to copy', () => {
    const url = new URL(confirmationUrl('https://git.example/crew/micwatch/', confirmation))
    expect(url.origin + url.pathname).toBe('https://git.example/crew/micwatch/issues/new')
    const { template, title, ...filled } = Object.fromEntries(url.searchParams)
    expect({ ...filled, title }).toEqual(confirmation)
    const file = new URL(`../../../.github/ISSUE_TEMPLATE/${template}`, import.meta.url)
    const { body } = parse(readFileSync(file, 'utf8'))
    const fields = body.filter((field: { id?: string }) => field.id !== undefined && field.id !== 'capture')
    const labels = fields.map((field: { id: string; attributes: { label: string } }) => [
      field.id,
      field.attributes.label,
    ])
    expect(Object.fromEntries(labels)).toEqual(confirmationLabels)
    const text = confirmationText(confirmation)
    for (const [field, value] of Object.entries(filled)) {
      expect(text).toContain(`### ${confirmationLabels[field as keyof typeof confirmationLabels]}\n\n${value}\n`)
    }
  })
})
