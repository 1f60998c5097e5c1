import { describe, expect, test } from 'vitest'
import { startConversation } from './conversation.ts'

const identity = '{"device":{"identity":{"product":"EWDXEM2","version":"3.0.4"},"name":"RACK"}}'
const network = '{"device":{"network":{"ether":{"macs":["00:1B:66:01:02:03"]}}}}'

function begin() {
  const conversation = startConversation('10.0.0.9', '10.0.0.9')
  conversation.turn(0)
  conversation.hear(identity, 10)
  conversation.hear(network, 20)
  return conversation
}

const about = (texts: readonly string[], word: string) => texts.filter((text) => text.includes(`"${word}"`)).length

test('asks who it is before anything else, and again until it is told', () => {
  const conversation = startConversation('10.0.0.9', null)
  expect(conversation.turn(0)).toHaveLength(2)
  expect(conversation.nextTurnAt).toBe(2000)
  expect(conversation.turn(1999)).toEqual([])
  conversation.hear(network, 2000)
  expect(conversation.turn(2000)).toHaveLength(1)
  expect(conversation.observe()).toBeNull()
  conversation.hear(identity, 2100)
  expect(conversation.observe()).toMatchObject({ name: 'RACK', channels: [] })
})

test('does without an address that is refused or never answered', () => {
  const refusing = startConversation('10.0.0.9', null)
  refusing.turn(0)
  refusing.hear(identity, 1)
  refusing.hear('{"osc":{"error":[{"device":{"network":[404,{"desc":"address not found"}]}}]}}', 2)
  expect(refusing.observe()).toMatchObject({ id: 'ssc1:10.0.0.9' })
  const mute = startConversation('10.0.0.9', null)
  for (const now of [0, 2000, 4000]) mute.turn(now)
  mute.hear(identity, 4001)
  expect(mute.observe()).toMatchObject({ id: 'ssc1:10.0.0.9' })
})

test('channels that are refused with 404 are not asked for again', () => {
  const conversation = begin()
  expect(about(conversation.turn(30), 'rx4')).toBe(2)
  conversation.hear('{"rx1":{"name":"A"},"rx2":{"name":"B"}}', 40)
  conversation.hear('{"osc":{"error":[{"rx3":{"name":[404,{"desc":""}]},"rx4":[404,{"desc":""}]}]}}', 50)
  expect(conversation.observe()?.channels?.map(({ channel }) => channel)).toEqual([1, 2])
  const again = conversation.turn(10_000)
  expect([about(again, 'rx2'), about(again, 'rx3'), about(again, 'tx4')]).toEqual([2, 0, 0])
})

describe('subscriptions', () => {
  const answerAll = '{"rx1":{"name":"A","warnings":[]},"mates":{"tx1":{"name":"H"}},"m":{"rx1":{"rssi":-50}}}'

  test('are renewed at a third of their lifetime, unanswered ones sooner', () => {
    const conversation = begin()
    conversation.turn(100)
    conversation.hear(answerAll, 200)
    expect(about(conversation.turn(2100), 'rx1')).toBe(0)
    expect(about(conversation.turn(8099), 'rx1')).toBe(0)
    expect(about(conversation.turn(8100), 'rx1')).toBe(2)
  })

  test('that were terminated are asked for at once, but never in a loop', () => {
    const conversation = begin()
    conversation.turn(100)
    conversation.hear(answerAll, 200)
    const terminated = '{"osc":{"error":[{"rx1":{"name":[310,{"desc":"subscription terminated"}]}}]}}'
    for (let now = 300; now < 1100; now += 100) conversation.hear(terminated, now)
    expect(conversation.nextTurnAt).toBe(1100)
    expect(about(conversation.turn(1100), 'rx1')).toBe(2)
    conversation.hear(terminated, 1200)
    expect(conversation.turn(1300)).toEqual([])
  })

  test('a transmitter that comes is asked what it has to tell', () => {
    const conversation = begin()
    conversation.turn(100)
    conversation.hear(answerAll, 200)
    conversation.hear('{"rx1":{"warnings":["NoLink"]}}', 3000)
    conversation.turn(3000)
    conversation.hear('{"osc":{"error":[{"mates":{"tx1":[424,{"desc":""}]}}]}}', 3100)
    expect(conversation.observe()?.channels?.[0]?.transmitter).toBeNull()
    conversation.hear('{"rx1":{"warnings":[]}}', 5000)
    expect(about(conversation.turn(5000), 'tx1')).toBe(1)
    conversation.hear('{"mates":{"tx1":{"name":"NEW","battery":{"gauge":40}}}}', 5100)
    expect(conversation.observe()?.channels?.[0]?.transmitter).toMatchObject({ name: 'NEW', battery: 40 })
  })

  test('refused altogether say so', () => {
    const conversation = begin()
    conversation.hear('{"osc":{"error":[{"osc":{"state":{"subscribe":[406,{"desc":"not acceptable"}]}}}]}}', 100)
    expect(conversation.refusal).toMatch(/406 not acceptable/)
  })
})

test('what is no message changes nothing', () => {
  const conversation = begin()
  expect(conversation.hear('oops', 30)).toMatch(/no message/)
  expect(conversation.observe()).toMatchObject({ name: 'RACK' })
})
