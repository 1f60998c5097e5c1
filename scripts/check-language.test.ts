import { describe, expect, test } from 'vitest'
import { findSentences, findWords } from './check-language.ts'

const found = (file: string, content: string) => findSentences(file, content).map((one) => one.found)
const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')

/** Name of a pattern -> sentences with it, and sentences that resemble them. */
const cases: Readonly<Record<string, { matches: string[]; allowed: string[] }>> = {
  'clause without main verb': {
    matches: [
      'What a topic retains.',
      'How long a carrier keeps its conflict.',
      'Whether a snoozed alert is raised again.',
    ],
    allowed: ['What happened is in the log.', 'What happens when the power fails?', 'Retained topics.', 'What to do'],
  },
  'is to be': {
    matches: ['The alert is to be raised.', 'Alerts are to be sent.'],
    allowed: ['The point is to become ready.', 'The alert must be raised.'],
  },
  'of which … of which': {
    matches: [
      'The levels of which channels, and of which sites.',
      'The key with which it signs, and with which it reads.',
    ],
    allowed: ['A file, the name of which is fixed.'],
  },
  'no … any more': {
    matches: ['There are no open failures any more.'],
    allowed: ['No more than two.', 'Not any more.'],
  },
  'is sure to': { matches: ['The transmitter is sure to have left.'], allowed: ['Make sure to stop it first.'] },
  'even if it was no': { matches: ['Any message, even if it was no report.'], allowed: ['Even if it was not sent.'] },
  'in another … than': {
    matches: ['Requests arrive in another order than they were sent.'],
    allowed: ['The channel is in another group.'],
  },
  'replaces … by': {
    matches: ['Replace the address by your own.', 'It replaces the label by that of the connection.'],
    allowed: ['The file is replaced by the newest.', 'Replace the address with your own.'],
  },
  'by itself alone': { matches: ['A node decides by itself alone.'], allowed: ['A node decides alone.'] },
  'so it is': {
    matches: ['An alert snoozed until cleared stays so.', 'If the node polls, so it does.'],
    allowed: ['It is late, so it is skipped on this node.'],
  },
  '…, too.': { matches: ['The show can be edited, too.'], allowed: ['This is too late.', 'Too many requests.'] },
  nor: {
    matches: ['Nothing is sent about the alert, nor about its end.'],
    allowed: ['Neither the alert nor its end is sent.', 'The northern hall.'],
  },
  'load again': {
    matches: ['A choice loads the page again.', 'It appears after the page was loaded again.'],
    allowed: ['It appears after a reload.', 'The load balancer tries again.'],
  },
  'From … on,': {
    matches: ['From the planned start on, operators can start the show.'],
    allowed: ['From the menu, choose Show.', 'It depends on the source.'],
  },
  'as soon as possible': {
    matches: ['It is sent as soon as possible.'],
    allowed: ['It is sent as soon as Redis responds.'],
  },
  'clause after a colon': {
    matches: [`${words(24)}: the rest is in the log.`],
    allowed: ['Redis never blocks: it is skipped.', `${words(24)}: name, location and type.`],
  },
  'two semicolons': { matches: ['One starts; one stops; one waits.'], allowed: ['One starts; one stops.'] },
  'more than 30 words': { matches: [`${words(31)}.`], allowed: [`${words(30)}.`, `${words(20)}. Then ${words(20)}.`] },
}

describe.each(Object.entries(cases))('the pattern "%s"', (name, { matches, allowed }) => {
  test.each(matches)('is found in %j', (sentence) => {
    expect(found('guide.md', sentence)).toContain(name)
  })

  test.each(allowed)('is not found in %j', (sentence) => {
    expect(found('guide.md', sentence)).not.toContain(name)
  })
})

test('sentences are found in comments, also across lines and at the end of a line', () => {
  const code = [
    '/**',
    ' * The alert is to',
    ' * be raised.',
    ' */',
    'const limit = 1 // the limit is to be raised',
    '// A load of 1',
    '',
    '// again.',
  ]
  expect(findSentences('code.ts', code.join('\n')).map(({ line, found }) => [line, found])).toEqual([
    [2, 'is to be'],
    [5, 'is to be'],
  ])
})

test('sentences are found in messages, not in code', () => {
  expect(found('code.ts', `throw new Error('The file is to be read first.')`)).toEqual(['is to be'])
  expect(found('code.ts', 'for (let i = 0; i < 3; i++) count(i); stop()')).toEqual([])
})

test('sentences are found in paragraphs and table cells, not in code or headings', () => {
  const document = [
    '# What is to be done',
    '',
    '```sh',
    'one; two; three',
    '```',
    '',
    '| Setting | The name is to be set. |',
  ]
  expect(findSentences('guide.md', document.join('\n')).map(({ line }) => line)).toEqual([7])
})

test('inline code counts as one word', () => {
  expect(found('guide.md', `${words(29)} \`a b c; d; e\`.`)).toEqual([])
})

test('words are found in identifiers and text, with the term to use', () => {
  const [one, ...others] = findWords('code.ts', `const gearList = []\nconst gearing = 'gearbox'`)
  expect(one).toMatchObject({ line: 1, found: 'gear', instead: 'equipment, hardware' })
  expect(others).toEqual([])
})
