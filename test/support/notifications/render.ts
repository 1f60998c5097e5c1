/** Renders a text as chat services do: the visible text, and the parts that became markup, mentions or commands. */

export interface Rendered {
  readonly text: string
  readonly markup: readonly string[]
}

/** Slack: `&`, `<` and `>` are control characters unless they are escaped; `mrkdwn` adds formatting. */
export function renderSlack(text: string, hasMrkdwn: boolean): Rendered {
  const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }
  const markup = [
    ...(text.match(/<[^>]*>?|>|&(?!amp;|lt;|gt;)/g) ?? []),
    ...(hasMrkdwn ? (text.match(/[*_~`].+?[*_~`]/g) ?? []) : []),
  ]
  return { text: text.replace(/&(amp|lt|gt);/g, (entity) => entities[entity] ?? entity), markup }
}

/** Discord: a backslash before punctuation makes it literal; everything else that Markdown uses is markup. */
export function renderDiscord(content: string, mayMention: boolean): Rendered {
  const markup: string[] = []
  const lines = content.split('\n').map((line) => {
    if (/^(#{1,3} |-# |>{1,3} |[-*+] |\d+[.)] )/.test(line)) markup.push(line)
    return line.replace(
      /\\([^0-9A-Za-z\s])|([*_~`|<[\\]|@(?:everyone|here))/g,
      (_, literal?: string, special?: string) => {
        if (special !== undefined) markup.push(special)
        return literal ?? special ?? ''
      },
    )
  })
  if (mayMention) markup.push('mentions')
  return { text: lines.join('\n'), markup }
}

/** Telegram: without `parse_mode`, servers still find mentions, hashtags, cashtags and commands. */
export function renderTelegram(text: string, isParsed: boolean): Rendered {
  const found =
    text
      .replace(/https:\/\/\S+/g, '')
      .match(/(?<![\p{L}\p{N}_])(@\w{4,32}|#[\p{L}\p{N}_]+|\$[A-Z]{1,8}\b|\/[A-Za-z]\w{0,31})/gu) ?? []
  return { text: text.replaceAll('\u2060', ''), markup: isParsed ? ['parse_mode', ...found] : found }
}

type Card = Readonly<Record<string, unknown>>

/** Teams: an adaptive card in a message. A `TextBlock` contains Markdown; every text may contain date functions. */
export function renderTeams(message: Card): Rendered & { readonly title: string; readonly links: readonly string[] } {
  const [attachment, ...others] = message.attachments as Card[]
  const { type, version, body, actions = [] } = (attachment?.content ?? {}) as Card
  const isCard = attachment?.contentType === 'application/vnd.microsoft.card.adaptive' && type === 'AdaptiveCard'
  if (message.type !== 'message' || !isCard || others.length > 0 || !/^1\.[0-5]$/.test(String(version))) {
    throw new Error('This is not a message with one adaptive card.')
  }
  const markup: string[] = []
  const opened = [...(actions as Card[])]
  const lines = (body as Card[]).map((block) => {
    if (block.type !== 'RichTextBlock') markup.push(String(block.type))
    const runs = block.inlines as Card[]
    opened.push(...runs.flatMap(({ selectAction }) => (selectAction === undefined ? [] : [selectAction as Card])))
    return runs.map((run) => (run.type === 'TextRun' ? String(run.text) : '')).join('')
  })
  markup.push(...(lines.join('\n').match(/\{\{(DATE|TIME)\(/g) ?? []))
  const [title = '', ...texts] = lines
  const links = opened.map(({ type, url }) => (type === 'Action.OpenUrl' ? String(url) : `${type}`))
  return { title, text: texts.join('\n'), markup, links }
}
