import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAddress } from './coordination.ts'
import { readCoordinationFile } from './read-coordination.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../../test/coordination-fixtures/${name}`, import.meta.url), 'utf8')

function readCoordination(text: string) {
  const file = readCoordinationFile(text)
  if (!('coordination' in file)) throw new Error('Expected a coordination.')
  return file.coordination
}

const rackA = '0A1B2C3D-0001-4000-8000-00000000000A'
const ears = '0A1B2C3D-0002-4000-8000-00000000000B'
const axient = { series: 'AD', band: 'G55', mode: 'Standard' }
const unlocked = { zone: null, group: null, isLocked: false, channel: null }

// Conformance: C-23.111, C-23.112.
describe('a show of Wireless Workbench', () => {
  const show = readCoordination(fixture('show.shw'))

  it('has the coordinated frequencies, with the names of the channels and numbers for equal ones', () => {
    expect(show).toMatchObject({ format: 'shw', title: 'Spring musical' })
    const nora = { ...unlocked, name: 'Nora Ø', khz: 470_125, ...axient, group: 'Vocals' }
    const paul = { ...unlocked, name: 'Paul', khz: 470_700, ...axient, isLocked: true }
    const psm = { series: 'PSM1000', band: 'H22', mode: '', zone: 'Stage B' }
    expect(show.carriers).toEqual([
      { ...nora, channel: { deviceKey: rackA, number: 1 } },
      { ...paul, channel: { deviceKey: rackA, number: 2 } },
      { ...unlocked, name: 'Paul 2', khz: 518_300, ...psm, channel: { deviceKey: ears, number: 1 } },
    ])
  })

  it('has the backups of the coordination and of the lists, without those that channels use', () => {
    const listed = { khz: 519_500, series: 'PSM1000', band: 'H22', mode: '' }
    expect(show.spares).toEqual([{ khz: 471_350, ...axient }, listed])
  })

  it('has devices, and an address only where one is set', () => {
    expect(show.devices.map(({ name, model, address }) => [name, model, address])).toEqual([
      ['Rack A', 'AD4D-A', '10.32.14.11'],
      ['Ears', 'P10T', null],
    ])
  })

  it('has what is included and excluded, but nothing of the lists of compatible frequencies', () => {
    expect(show.inclusions).toEqual([
      { name: 'Vocals', fromKhz: 470_125, toKhz: 470_125 },
      { name: 'Vocals', fromKhz: 474_000, toKhz: 478_000 },
    ])
    expect(show.exclusions).toEqual([
      { name: 'Talkback', fromKhz: 503_250, toKhz: 503_250 },
      { name: 'Radio astronomy', fromKhz: 606_000, toKhz: 614_000 },
    ])
    expect([show.tvChannels, show.excludeAboveDbm, show.peakAboveDbm]).toEqual([[26], -88, -62])
  })

  it('that was not coordinated has the frequencies of its inventory', () => {
    const uncoordinated = readCoordination(
      fixture('show.shw').replace(/<coordinated_data_root.*<\/coordinated_data_root>/s, ''),
    )
    expect(uncoordinated.carriers.map(({ name, khz }) => [name, khz])).toEqual([
      ['Nora Ø', 471_000],
      ['Paul', 471_000],
      ['Paul 2', 519_000],
    ])
  })

  it('with the same channel twice is refused by line', () => {
    const twice = fixture('show.shw').replaceAll(`${rackA}-1`, `${rackA}-0`)
    expect(() => readCoordination(twice)).toThrow(/^Line \d+: the channel ".*-0" is also on line \d+\.$/)
  })
})

// Conformance: C-23.112.
it('a workspace has the devices of its frequencies', () => {
  const workspace = readCoordination(fixture('workspace.cws'))
  expect(workspace).toMatchObject({ format: 'cws', title: null, tvChannels: [26], excludeAboveDbm: -88 })
  expect(workspace.devices.map(({ key, model }) => [key, model])).toEqual([
    [rackA, 'AD4D-A'],
    [ears, 'P10T'],
  ])
  expect(workspace.carriers.map(({ name, group }) => [name, group])).toEqual([
    ['Shure', 'Vocals'],
    ['Shure 2', null],
    ['Shure 3', null],
  ])
  expect(workspace.inclusions).toHaveLength(2)
})

// Conformance: C-23.112.
it('a project of WSM has allocated frequencies, regions as zones, and spares', () => {
  const project = readCoordination(fixture('project.wsm'))
  expect(project.format).toBe('wsm')
  expect(project.carriers.map(({ name, khz, mode, zone, isLocked }) => [name, khz, mode, zone, isLocked])).toEqual([
    ['Nora', 471_400, 'LD', null, true],
    ['Ears', 556_600, '', 'Stage B', false],
    ['Ears 2', 557_000, '', null, false],
  ])
  expect(project.spares).toEqual([{ khz: 556_000, series: 'SR IEM G4', band: '', mode: '' }])
  expect(project.devices.map(({ address }) => address)).toEqual(['10.20.60.11', null, null])
  const withoutResult = fixture('project.wsm').replaceAll(/<AllocatedFrequency>\d+/g, '<AllocatedFrequency>0')
  expect(readCoordination(withoutResult).carriers.map(({ khz }) => khz)).toEqual([470_200, 516_000, 516_000])
})

// Conformance: C-23.112.
describe('a report of Wireless Workbench', () => {
  it('of version 7 has zones, groups and backups, and skips rows without a frequency', () => {
    const report = readCoordination(fixture('report-7.csv'))
    expect(report).toMatchObject({ format: 'wwb_csv', title: 'Spring musical', devices: [] })
    expect(report.carriers.map(({ name, khz, mode, zone, group }) => [name, khz, mode, zone, group])).toEqual([
      ['Nora', 470_125, 'Standard', null, 'Group 1'],
      ['Paul, understudy', 470_700, 'High Density', null, null],
      ['Ears', 518_300, 'Narrowband', 'Stage B', null],
    ])
    expect(report.spares).toEqual([{ khz: 471_350, ...axient }])
    expect(report.inclusions).toEqual([
      { name: 'Group 1', fromKhz: 470_125, toKhz: 470_125 },
      { name: 'Group 1', fromKhz: 474_000, toKhz: 478_000 },
    ])
    expect(report.skipped).toEqual([{ line: 37, why: expect.stringContaining('contains no frequency in MHz') }])
  })

  it('of version 6 has decimal commas in two cells, names of devices, and TV channels', () => {
    const report = readCoordination(fixture('report-6.csv'))
    expect(report.carriers.map(({ name, khz }) => [name, khz])).toEqual([
      ['Nora', 470_125],
      ['Nora 2', 470_700],
    ])
    expect(report.devices).toMatchObject([{ name: 'Rack A', model: 'AD4D-A' }])
    expect(report.spares.map(({ khz }) => khz)).toEqual([471_350])
    expect(report.tvChannels).toEqual([10, 26])
    expect(report.exclusions).toEqual([
      { name: 'Talkback', fromKhz: 503_250, toKhz: 503_250 },
      { name: '', fromKhz: 606_000, toKhz: 614_000 },
    ])
  })
})

// Conformance: C-23.114.
describe('refused by name and line', () => {
  const entity = '<!DOCTYPE show [<!ENTITY a "b">]>\n<show>&a;</show>'
  it.each([
    ['an internal subset', entity, /^Line 1: files with this document type/],
    ['another document type', '<!DOCTYPE show SYSTEM "file:///etc/passwd">\n<show/>', /^Line 1: files with this/],
    ['WSM with a subset', '<!DOCTYPE WSM [<!ENTITY a "b">]>\n<WSM/>', /^Line 1: files with this document type/],
    ['an unknown entity', '<show>\n&bomb;</show>', /^Line 2: the file is not well-formed/],
    ['a file that ends early', '<show>\n<inventory>', /^Line 2: the file is not well-formed XML, or is not complete/],
    ['elements without end', '<a>'.repeat(200), /^Line 1: elements are nested too deep/],
    ['too many elements', `<show>${'<a/>'.repeat(200_001)}</show>`, /more than 200000 elements/],
    ['another XML file', '<svg/>', /no coordination. Expected a show/],
    ['a scan', '<scan_data_source/>', /is a scan/],
    ['text', 'hello', /none that can be read. Expected a show/],
    ['a show without frequencies', '<show/>', /no frequencies of channels/],
    [
      'a word as a frequency',
      fixture('show.shw').replace('<value>470700', '<value>loud'),
      /^Line \d+: "loud" is not a frequency in kHz/,
    ],
    [
      'a range that ends before it starts',
      fixture('show.shw').replace('606000', '615000'),
      /^Line \d+: the range ends before/,
    ],
    [
      'a device of WSM twice',
      fixture('project.wsm').replace('UniqueId="2"', 'UniqueId="1"'),
      /^Line \d+: the device "1" is also on line \d+/,
    ],
  ])('%s', (_, text, message) => {
    expect(() => readCoordination(text)).toThrow(message)
  })

  it('more than 1,000 frequencies', () => {
    const rows = Array.from({ length: 1001 }, (_, index) => `AD/Standard,G55,A,G:-- Ch:--,${470 + index}.000 MHz,`)
    const report = [
      'RF zone: Default',
      'Primary frequencies (1001)',
      'Type,Band,Channel name,Group & Channel,Frequency,',
      ...rows,
    ]
    expect(() => readCoordination(report.join('\n'))).toThrow('more than 1000 frequencies')
  })
})

it.each([
  ['0', null],
  ['0.0.0.0', null],
  ['169872907', '10.32.14.11'],
  ['10.20.60.11', '10.20.60.11'],
  ['10.20.60.311', null],
  ['4294967295', '255.255.255.255'],
  ['', null],
])('the address %j is %j', (text, expected) => {
  expect(parseAddress(text)).toBe(expected)
})

// Conformance: C-23.113.
it('an equipment profile is read as a frequency profile', () => {
  const [profile] = (readCoordinationFile(fixture('belt-pack.eqp')) as { profiles: unknown[] }).profiles
  expect(profile).toEqual({
    name: 'Hofmann B-12',
    levels: {
      robust: { spacing: 600, '2t3o': 300, '2t5o': 100, '2t7o': 0, '2t9o': 0, '3t3o': 200 },
      standard: { spacing: 500, '2t3o': 200, '2t5o': 0, '2t7o': 0, '2t9o': 0, '3t3o': 150 },
      more: { spacing: 400, '2t3o': 0, '2t5o': 0, '2t7o': 0, '2t9o': 0, '3t3o': 0 },
    },
    window_mhz: { robust: 100, standard: 80, more: 60 },
    step_khz: 50,
    is_generator: true,
    bands: [{ name: '5B', ranges: [{ from: '542.000', to: '566.000' }] }],
    source: 'Equipment profile of Wireless Workbench. Its licence is that of its author.',
  })
})

// Conformance: C-23.129.
it.each([
  ['robust="600"', 'robust="wide"', '"wide" is not a whole number of kHz from 0 to 100000'],
  ['robust="600"', 'robust="-600"', '"-600" is not a whole number of kHz from 0 to 100000'],
  ['robust="600"', 'robust="100001"', '"100001" is not a whole number of kHz from 0 to 100000'],
  ['kHz">50</step_size>', 'kHz">0</step_size>', '"0" is not a whole number of kHz from 1 to 10000'],
  ['kHz">50</step_size>', 'kHz">25000</step_size>', '"25000" is not a whole number of kHz from 1 to 10000'],
])('an equipment profile with what the interface refuses is refused by line: %s becomes %s', (from, to, message) => {
  const broken = fixture('belt-pack.eqp').replace(from, to)
  const line = broken.split('\n').findIndex((text) => text.includes(to)) + 1
  expect(() => readCoordinationFile(broken)).toThrow(`Line ${line}: ${message}`)
})

// Conformance: C-23.128, C-23.129.
describe('the profile list of a show', () => {
  const profile = (band: string, spacing: string, mode = 'Standard', name = 'Standard') =>
    `<profile><band>${band}</band><series>AD</series><tx_profile>${mode}</tx_profile>
      <compat_profile imd_source="1" name="${name}"><spacing freq_units="KHz"><ch_ch>${spacing}</ch_ch>
        <imd_2t3o>75</imd_2t3o><imd_2t5o>0</imd_2t5o><imd_3t3o>50</imd_3t3o></spacing>
        <filter type="1"><filter_start>-70000</filter_start><filter_end>60000</filter_end></filter></compat_profile></profile>`
  const showWith = (...profiles: readonly string[]) => {
    const list = `<compatibility_profile_settings count="1">${profiles.join('\n')}</compatibility_profile_settings>`
    return fixture('show.shw').replace(/<coordinated_data_root[^>]*>/, (root) => root + list)
  }

  it('is read as profiles, one for each set of distances', () => {
    const standard = { spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 0, '2t7o': 0, '2t9o': 0 }
    const others = {
      ...{ window_mhz: { standard: 70 }, is_generator: true },
      source: 'Profile list of a Wireless Workbench show. Its licence is that of its author.',
    }
    const text = showWith(
      profile('G56', '350'),
      profile('K54', '350'),
      profile('G56', '300', 'Standard', 'Standard'),
      profile('G56', '125', 'High Density', 'Robust'),
    )
    expect(readCoordination(text).profiles).toEqual([
      { name: 'WWB AD Standard', levels: { standard }, ...others },
      { name: 'WWB AD Standard 2', levels: { standard: { ...standard, spacing: 300 } }, ...others },
      { name: 'WWB AD High Density Robust', levels: { standard: { ...standard, spacing: 125 } }, ...others },
    ])
    expect(readCoordination(fixture('show.shw')).profiles).toEqual([])
  })

  it('with a distance that the interface refuses is refused by line', () => {
    const text = showWith(profile('G56', '-5'))
    const line = text.split('\n').findIndex((row) => row.includes('<ch_ch>-5')) + 1
    expect(() => readCoordinationFile(text)).toThrow(
      `Line ${line}: "-5" is not a whole number of kHz from 0 to 100000.`,
    )
  })
})
