import { describe, expect, test } from 'vitest'
import { createSsc1Session } from './session.ts'

const endpoint = { host: '10.0.0.9', ip: '10.0.0.9', name: null }

const identity = '{"device":{"identity":{"product":"EWDXEM2","version":"3.0.4"},"name":"RACK"}}'
const network = '{"device":{"network":{"ether":{"macs":["00:1B:66:01:02:03"]}}}}'

function createIdentifiedSession() {
  const session = createSsc1Session(endpoint)
  session.takeDueMessages(0)
  session.receive(identity, 10)
  session.receive(network, 20)
  return session
}

const countContaining = (texts: readonly string[], name: string) =>
  texts.filter((text) => text.includes(`"${name}"`)).length

test('requests the identity first and repeats the request until it is answered', () => {
  const session = createSsc1Session(endpoint)
  expect(session.takeDueMessages(0)).toHaveLength(2)
  expect(session.nextSendAt).toBe(2000)
  expect(session.takeDueMessages(1999)).toEqual([])
  session.receive(network, 2000)
  expect(session.takeDueMessages(2000)).toHaveLength(1)
  expect(session.getReport()).toBeNull()
  session.receive(identity, 2100)
  expect(session.getReport()).toMatchObject({ name: 'RACK', channels: [] })
})

test('continues without an address that is rejected or never answered', () => {
  const refusing = createSsc1Session(endpoint)
  refusing.takeDueMessages(0)
  refusing.receive(identity, 1)
  refusing.receive('{"osc":{"error":[{"device":{"network":[404,{"desc":"address not found"}]}}]}}', 2)
  expect(refusing.getReport()).toMatchObject({ id: 'ssc1:10.0.0.9' })
  const mute = createSsc1Session(endpoint)
  for (const now of [0, 2000, 4000]) mute.takeDueMessages(now)
  mute.receive(identity, 4001)
  expect(mute.getReport()).toMatchObject({ id: 'ssc1:10.0.0.9' })
})

test('does not request channels again that were rejected with 404', () => {
  const session = createIdentifiedSession()
  expect(countContaining(session.takeDueMessages(30), 'rx4')).toBe(2)
  session.receive('{"rx1":{"name":"A"},"rx2":{"name":"B"}}', 40)
  session.receive('{"osc":{"error":[{"rx3":{"name":[404,{"desc":""}]},"rx4":[404,{"desc":""}]}]}}', 50)
  expect(session.getReport()?.channels?.map(({ channel }) => channel)).toEqual([1, 2])
  const again = session.takeDueMessages(10_000)
  expect([countContaining(again, 'rx2'), countContaining(again, 'rx3'), countContaining(again, 'tx4')]).toEqual([
    2, 0, 0,
  ])
})

test('names what the device refuses or reports in another form, except for channels and transmitters that are absent', () => {
  const session = createIdentifiedSession()
  session.takeDueMessages(30)
  const { problems } = session
  session.receive('{"rx1":{"name":"A"},"osc":{"error":[{"mates":{"tx1":{"name":[424,{"desc":""}]}}}]}}', 40)
  session.receive('{"osc":{"error":[{"rx3":{"name":[404,{"desc":""}]},"rx4":[404,{"desc":""}]}]}}', 50)
  expect(session.problems).toBe(problems)
  session.receive('{"osc":{"error":[{"device":{"link_density_mode":[404,{"desc":""}]}}]}}', 60)
  session.receive('{"rx1":{"gain":"loud"}}', 70)
  const clauses = [
    'the device refuses /device/link_density_mode (error 404)',
    'the device reports /rx*/gain in an undocumented form',
  ]
  const problem = `${clauses.join(', and ')}, so these values are unknown`
  expect(session.problems).toEqual([{ subject: '10.0.0.9', problem }])
  session.receive('{"rx2":{"gain":12}}', 75)
  expect(session.problems).toEqual([{ subject: '10.0.0.9', problem }])
  session.receive('{"rx1":{"gain":12},"device":{"link_density_mode":true}}', 80)
  expect(session.problems).toEqual([])
})

// Conformance: C-24.52.
test('names what is never answered if the device rejects a whole message', () => {
  const session = createIdentifiedSession()
  const rejection = '{"osc":{"error":[400,{"desc":"message not understood"}]}}'
  session.takeDueMessages(30)
  session.receive(rejection, 40)
  session.receive('{"rx1":{"name":"A"},"rx2":{"name":"B"}}', 50)
  expect([session.isComplete, session.rejection, session.problems]).toEqual([false, null, []])
  for (const now of [2100, 4200, 6300]) session.takeDueMessages(now)
  session.receive(rejection, 6400)
  const problem = session.problems?.[0]?.problem
  expect(problem).toContain('/device/encryption (error 400)')
  expect(problem).not.toContain('/rx1/name')
  expect(session.isComplete).toBe(true)
})

describe('subscriptions', () => {
  const answerAll = '{"rx1":{"name":"A","warnings":[]},"mates":{"tx1":{"name":"H"}},"m":{"rx1":{"rssi":-50}}}'

  test('are renewed at a third of their lifetime, unanswered ones sooner', () => {
    const session = createIdentifiedSession()
    session.takeDueMessages(100)
    session.receive(answerAll, 200)
    expect(countContaining(session.takeDueMessages(2100), 'rx1')).toBe(0)
    expect(countContaining(session.takeDueMessages(8099), 'rx1')).toBe(0)
    expect(countContaining(session.takeDueMessages(8100), 'rx1')).toBe(2)
  })

  test('are renewed immediately after termination, at a limited rate', () => {
    const session = createIdentifiedSession()
    session.takeDueMessages(100)
    session.receive(answerAll, 200)
    const terminated = '{"osc":{"error":[{"rx1":{"name":[310,{"desc":"subscription terminated"}]}}]}}'
    for (let now = 300; now < 1100; now += 100) session.receive(terminated, now)
    expect(session.nextSendAt).toBe(1100)
    expect(countContaining(session.takeDueMessages(1100), 'rx1')).toBe(2)
    session.receive(terminated, 1200)
    expect(session.takeDueMessages(1300)).toEqual([])
  })

  test('are renewed for a transmitter that is linked again', () => {
    const session = createIdentifiedSession()
    session.takeDueMessages(100)
    session.receive(answerAll, 200)
    session.receive('{"rx1":{"warnings":["NoLink"]}}', 3000)
    session.takeDueMessages(3000)
    session.receive('{"osc":{"error":[{"mates":{"tx1":[424,{"desc":""}]}}]}}', 3100)
    expect(session.getReport()?.channels?.[0]?.transmitter).toBeNull()
    session.receive('{"rx1":{"warnings":[]}}', 5000)
    expect(countContaining(session.takeDueMessages(5000), 'tx1')).toBe(2)
    session.receive('{"mates":{"tx1":{"name":"NEW","battery":{"gauge":40}}}}', 5100)
    expect(session.getReport()?.channels?.[0]?.transmitter).toMatchObject({ name: 'NEW', battery: 40 })
  })

  // Conformance: C-24.52.
  test.each([
    '{"osc":{"error":[{"osc":{"state":{"subscribe":[406,{"desc":"not acceptable"}]}}}]}}',
    '{"osc":{"error":[406,{"desc":"not acceptable"}]}}',
    '{"osc":{"error":[{"desc":"not acceptable","code":406}]}}',
  ])('that are rejected with %s set `rejection`', (text) => {
    const session = createIdentifiedSession()
    session.receive(text, 100)
    expect(session.rejection).toMatch(/406 not acceptable/)
  })
})

test('polls values that are not subscribed to', () => {
  const session = createSsc1Session(endpoint)
  session.takeDueMessages(0)
  session.receive('{"device":{"identity":{"product":"EM6000"}}}', 10)
  session.receive(network, 20)
  const bankRequest = '{"rx1":{"active_bank_channel":null}}'
  expect(session.takeDueMessages(30)).toEqual(expect.arrayContaining([bankRequest, '{"sys":{"booster":null}}']))
  session.receive('{"rx1":{"name":"A","active_bank_channel":["b1",4]},"sys":{"booster":true}}', 40)
  expect(session.takeDueMessages(8000)).not.toContain(bankRequest)
  expect(session.takeDueMessages(8030)).toContain(bankRequest)
  session.receive('{"rx1":{"active_bank_channel":["--",0]},"sys":{"booster":false}}', 8040)
  expect(session.getReport()?.channels?.[0]?.details).toMatchObject({ group_channel: null, booster_feed: false })
  const cancellation = session.createUnsubscribeMessage() ?? ''
  expect([cancellation.includes('carrier'), /bank|booster/.test(cancellation)]).toEqual([true, false])
})

test('ignores datagrams that are not messages', () => {
  const session = createIdentifiedSession()
  expect(session.receive('oops', 30)).toMatch(/not a message/)
  expect(session.getReport()).toMatchObject({ name: 'RACK' })
})

test('requests no interval of notifications if the guide of the family describes none', () => {
  const session = createSsc1Session(endpoint)
  session.takeDueMessages(0)
  session.receive('{"device":{"identity":{"product":"SLDW"}}}', 10)
  session.receive(network, 20)
  expect(session.takeDueMessages(30)).toContain(
    '{"osc":{"state":{"subscribe":[{"#":{"count":1000,"lifetime":24},"mates":{"active":null}}]}}}',
  )
})
