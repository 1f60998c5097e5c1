import { describe, expect, test } from 'vitest'
import { startDialogue } from './dialogue.ts'

const partner = { host: '10.0.0.9', ip: '10.0.0.9', name: null }

const identity = '{"device":{"identity":{"product":"EWDXEM2","version":"3.0.4"},"name":"RACK"}}'
const network = '{"device":{"network":{"ether":{"macs":["00:1B:66:01:02:03"]}}}}'

function begin() {
  const dialogue = startDialogue(partner)
  dialogue.turn(0)
  dialogue.hear(identity, 10)
  dialogue.hear(network, 20)
  return dialogue
}

const about = (texts: readonly string[], word: string) => texts.filter((text) => text.includes(`"${word}"`)).length

test('asks who it is before anything else, and again until it is told', () => {
  const dialogue = startDialogue(partner)
  expect(dialogue.turn(0)).toHaveLength(2)
  expect(dialogue.nextTurnAt).toBe(2000)
  expect(dialogue.turn(1999)).toEqual([])
  dialogue.hear(network, 2000)
  expect(dialogue.turn(2000)).toHaveLength(1)
  expect(dialogue.observe()).toBeNull()
  dialogue.hear(identity, 2100)
  expect(dialogue.observe()).toMatchObject({ name: 'RACK', channels: [] })
})

test('does without an address that is refused or never answered', () => {
  const refusing = startDialogue(partner)
  refusing.turn(0)
  refusing.hear(identity, 1)
  refusing.hear('{"osc":{"error":[{"device":{"network":[404,{"desc":"address not found"}]}}]}}', 2)
  expect(refusing.observe()).toMatchObject({ id: 'ssc1:10.0.0.9' })
  const mute = startDialogue(partner)
  for (const now of [0, 2000, 4000]) mute.turn(now)
  mute.hear(identity, 4001)
  expect(mute.observe()).toMatchObject({ id: 'ssc1:10.0.0.9' })
})

test('channels that are refused with 404 are not asked for again', () => {
  const dialogue = begin()
  expect(about(dialogue.turn(30), 'rx4')).toBe(2)
  dialogue.hear('{"rx1":{"name":"A"},"rx2":{"name":"B"}}', 40)
  dialogue.hear('{"osc":{"error":[{"rx3":{"name":[404,{"desc":""}]},"rx4":[404,{"desc":""}]}]}}', 50)
  expect(dialogue.observe()?.channels?.map(({ channel }) => channel)).toEqual([1, 2])
  const again = dialogue.turn(10_000)
  expect([about(again, 'rx2'), about(again, 'rx3'), about(again, 'tx4')]).toEqual([2, 0, 0])
})

describe('subscriptions', () => {
  const answerAll = '{"rx1":{"name":"A","warnings":[]},"mates":{"tx1":{"name":"H"}},"m":{"rx1":{"rssi":-50}}}'

  test('are renewed at a third of their lifetime, unanswered ones sooner', () => {
    const dialogue = begin()
    dialogue.turn(100)
    dialogue.hear(answerAll, 200)
    expect(about(dialogue.turn(2100), 'rx1')).toBe(0)
    expect(about(dialogue.turn(8099), 'rx1')).toBe(0)
    expect(about(dialogue.turn(8100), 'rx1')).toBe(2)
  })

  test('that were terminated are asked for at once, but never in a loop', () => {
    const dialogue = begin()
    dialogue.turn(100)
    dialogue.hear(answerAll, 200)
    const terminated = '{"osc":{"error":[{"rx1":{"name":[310,{"desc":"subscription terminated"}]}}]}}'
    for (let now = 300; now < 1100; now += 100) dialogue.hear(terminated, now)
    expect(dialogue.nextTurnAt).toBe(1100)
    expect(about(dialogue.turn(1100), 'rx1')).toBe(2)
    dialogue.hear(terminated, 1200)
    expect(dialogue.turn(1300)).toEqual([])
  })

  test('a transmitter that comes is asked what it has to tell', () => {
    const dialogue = begin()
    dialogue.turn(100)
    dialogue.hear(answerAll, 200)
    dialogue.hear('{"rx1":{"warnings":["NoLink"]}}', 3000)
    dialogue.turn(3000)
    dialogue.hear('{"osc":{"error":[{"mates":{"tx1":[424,{"desc":""}]}}]}}', 3100)
    expect(dialogue.observe()?.channels?.[0]?.transmitter).toBeNull()
    dialogue.hear('{"rx1":{"warnings":[]}}', 5000)
    expect(about(dialogue.turn(5000), 'tx1')).toBe(1)
    dialogue.hear('{"mates":{"tx1":{"name":"NEW","battery":{"gauge":40}}}}', 5100)
    expect(dialogue.observe()?.channels?.[0]?.transmitter).toMatchObject({ name: 'NEW', battery: 40 })
  })

  test('refused altogether say so', () => {
    const dialogue = begin()
    dialogue.hear('{"osc":{"error":[{"osc":{"state":{"subscribe":[406,{"desc":"not acceptable"}]}}}]}}', 100)
    expect(dialogue.refusal).toMatch(/406 not acceptable/)
  })
})

test('what is no message changes nothing', () => {
  const dialogue = begin()
  expect(dialogue.hear('oops', 30)).toMatch(/no message/)
  expect(dialogue.observe()).toMatchObject({ name: 'RACK' })
})
