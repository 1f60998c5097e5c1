/** Constructions that make a sentence hard to read. */

export interface SentencePattern {
  readonly name: string
  readonly matches: (sentence: string) => boolean
  readonly instead: string
}

const maxWords = 30
/** A colon followed by a clause is allowed up to this length. */
const maxWordsWithClause = 25

const auxiliary = /\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|will|would|must|may|should)\b/

const verb =
  /\b(?:is|are|was|were|has|have|does|do|can|cannot|will|must|may|should|depends?|decides?|matters?|stays?|remains?|follows?|comes?|applies|appears?|needs?)\b/g

export const sentencePatterns: readonly SentencePattern[] = [
  {
    name: 'clause without main verb',
    matches: isNominalClause,
    instead: 'begin with the subject, or delete the sentence',
  },
  pattern('is to be', /\b(?:is|are) to be\b/, 'must be, is'),
  pattern('of which … of which', /\b(?:of|with) which\b.*\b(?:of|with) which\b/, 'two sentences'),
  pattern('no … any more', /\bno(?: \w+){1,3} any ?more\b/i, 'no longer'),
  pattern('is sure to', /\b(?:is|are) sure to\b/, 'certainly, always'),
  pattern('even if it was no', /\beven if (?:it|they) (?:was|were|is|are) no\b/i, 'even without'),
  pattern('in another … than', /\bin another \w+(?: \w+)? than\b/i, 'out of order, in a different …'),
  pattern('replaces … by', /\breplac(?:e|es|ing)(?: [^\s,.;:]+){1,5} by\b/i, 'replaces … with'),
  pattern('by itself alone', /\bby (?:itself|themselves) alone\b/i, 'alone'),
  pattern(
    'so it is',
    /\bso (?:it|they) (?:is|are|does|do|stays?)[.;]?$|\b(?:stays?|remains?) so[.;]?$/i,
    'repeat the verb',
  ),
  pattern('…, too.', /, too[.;]?$/, 'also'),
  pattern('nor', /(?<!\bneither\b.*) nor /i, 'or, and not'),
  pattern('load again', /\bload(?:s|ed|ing)?(?: (?:the|a|this|every)(?: \w+){1,2})? again\b/i, 'reload'),
  pattern('From … on,', /^From\b[^.]*\bon,/, 'since, after, starting at'),
  pattern('as soon as possible', /\bas soon as possible\b/i, 'immediately, at the next …'),
  {
    name: 'clause after a colon',
    matches: (sentence) =>
      wordCount(sentence) > maxWordsWithClause &&
      (sentence.match(/: [a-z].*/g) ?? []).some((part) => auxiliary.test(part)),
    instead: 'two sentences',
  },
  pattern('two semicolons', /; [a-z].*; [a-z]/, 'sentences, or a list'),
  {
    name: `more than ${maxWords} words`,
    matches: (sentence) => wordCount(sentence) > maxWords,
    instead: 'two sentences',
  },
]

function pattern(name: string, expression: RegExp, instead: string): SentencePattern {
  return { name, matches: (sentence) => expression.test(sentence), instead }
}

/**
 * "What a topic retains." is a noun, not a sentence. "What happened is in the log." has a main verb after the clause.
 * Questions are sentences, and labels end without a full stop.
 */
function isNominalClause(sentence: string): boolean {
  if (!/^(?:What|How long|Whether)\b.*\.$/.test(sentence)) return false
  const relative = /^What \w+(?:ed|s)\b/.exec(sentence)?.[0] ?? ''
  return (sentence.slice(relative.length).match(verb) ?? []).length < (relative === '' ? 2 : 1)
}

function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length
}
