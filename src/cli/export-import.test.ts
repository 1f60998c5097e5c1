import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { InstallationFile } from '../actions/installation/installation-file.ts'
import { parseInstallationFile, toJsonText, toYamlText } from './export-import.ts'

test.each([
  ['version: 2', 'version: expected 1'],
  ['groups: []', 'version is missing'],
  ['[', 'not valid YAML'],
  ['', 'expected what micwatch export writes'],
  ['version: 1\nversion: 1', 'not valid YAML: Map keys must be unique at line 2'],
  ['version: 1\ngruops: []', 'gruops: unknown key'],
  ['version: 1\nsettings: {polling_interval: 0}', 'settings.polling_interval: expected a whole number from 1 to 3600'],
  ['version: 1\nsettings: {enable_websocket: "yes"}', 'settings.enable_websocket: expected true or false'],
  ['version: 1\ngroups: [{title: a}, {title: 7}]', 'groups.1.title: expected text of 1 to 255 characters'],
  ['version: 1\ngroups: [{title: a, slots: [1, 1]}]', 'groups.0.slots: expected at most 10000 distinct whole'],
  ['version: 1\nlocations: [{name: A, locations: [{nme: B}]}]', 'locations.0.locations.0: expected'],
  [
    'version: 1\nreceivers: [{manufacturer: shure, slots: {1: x}}]',
    'receivers.0.slots.1: expected a whole number from 1 to 65535',
  ],
  [
    'version: 1\nreceivers: [{serial_number: X}]',
    'receivers.0: expected a receiver with its manufacturer (manufacturer',
  ],
  ['version: 1\ngroups: [{title: "a\\0b"}]', 'groups.0.title: expected text without U+0000'],
  ['version: 1\ngroups: [{title: !secret a}]', 'not valid YAML: Unresolved tag: !secret at line 2'],
  ['version: 1\n? [a, b]\n: 1', 'unknown key'],
  [`version: 1\ngroups: ${'['.repeat(70)}${']'.repeat(70)}`, 'nested deeper than 64 levels'],
  ['version: 1\ngroups: &again [*again]', 'nested deeper than 64 levels'],
  ['version: 1\nassignments: [{performer: A, manufacturer: a, since: soon}]', 'assignments.0.since: expected a time'],
])('rejects %j: %s', (text, reason) => {
  expect(() => parseInstallationFile(text, 'venue.yaml')).toThrow(/^venue\.yaml: [^\n]*$/)
  expect(() => parseInstallationFile(text, 'venue.yaml')).toThrow(reason)
})

test('reads back every name unchanged', () => {
  const words = ['no', '7', '~', ' a: b # c ', 'ö\n\u2028"', '{x}', '- y']
  const file: InstallationFile = {
    version: 1,
    performers: words.map((name) => ({ name, notes: name, picture: 'A'.repeat(500) })),
    groups: words.map((title) => ({ title, slots: [2, 1], hide_charts: true, manufacturer: null })),
    locations: [{ name: 'A', locations: [{ name: 'B', description: 'x', locations: [] }] }],
    receivers: [{ manufacturer: 'shure', serial_number: '0123', location: ['A', 'B'], slots: { 1: 7, 12: 3 } }],
  }
  expect(parseInstallationFile(toYamlText(file), 'venue.yaml')).toEqual(file)
  expect(parseInstallationFile(JSON.stringify(file), 'venue.json')).toEqual(file)
})

const controls = [
  '\0',
  '\u0007',
  '\t',
  '\u001b[2J',
  '\u007f',
  '\u0085',
  '\u009b2J',
  '\u061c',
  '\u200f',
  '\u202e',
  '\u2066',
]

// Conformance: C-9.26.
test.each([
  ['YAML', toYamlText],
  ['JSON', toJsonText],
])('%s output escapes control characters and bidirectional overrides, and is read back unchanged', (_, toText) => {
  const names = controls.flatMap((control) => [control, `a ${control}b`, `\\${control}\n"'`, `# ${control}: - {`])
  const file: InstallationFile = {
    version: 1,
    manufacturers: [{ code: 'shure', config: Object.fromEntries(names.map((name) => [name, name])) }],
    performers: names.map((name) => ({ name, notes: `${name}\n${name}\n` })),
  }
  const text = toText(file)
  expect(text.match(/[^\P{Cc}\n]|\p{Bidi_Control}/u)).toBeNull()
  expect(parse(text)).toEqual(file)
})
