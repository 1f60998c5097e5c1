import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { NotificationChannelBody, NotificationRuleBody } from '../../src/contract/notifications.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import { formatList, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notificationTopics, notifiersPath, rulesPath } from '../parts/notifiers.ts'
import { RuleForm } from './rule-form.tsx'
import { ruleSentence, useRuleNames } from './rule-sentence.ts'
import { suggestedRule } from './rule-values.ts'

type Rule = NotificationRuleBody

interface ListProps {
  readonly rules: readonly Rule[]
  readonly notifiers: readonly NotificationChannelBody[]
  onDone(): Promise<void>
}

export function Rules() {
  const notifiers = useResource(notifiersPath, 'list', notificationTopics)
  const rules = useResource(rulesPath, 'list', notificationTopics)
  return (
    <Loaded resource={notifiers}>
      {(records) => (
        <Loaded resource={rules}>{(list) => <List rules={list} notifiers={records} onDone={rules.reload} />}</Loaded>
      )}
    </Loaded>
  )
}

type DialogState = { readonly kind: 'add' } | { readonly kind: 'edit' | 'remove'; readonly rule: Rule }

function List({ rules, notifiers, onDone }: ListProps) {
  const mayAdminister = useMay('administer')
  const [dialog, setDialog] = useState<DialogState | null>(null)
  const close = () => setDialog(null)
  if (notifiers.length === 0) return <NoNotifiers />
  const add = (
    <button type="button" className="choice" data-tone="usual" onClick={() => setDialog({ kind: 'add' })}>
      {t('notifications.rules.add')}
    </button>
  )
  return (
    <>
      <div className="list-actions">{mayAdminister ? add : <p>{t('shell.requires.admin')}</p>}</div>
      {rules.length === 0 ? (
        <NoRules {...{ notifiers, onDone }} />
      ) : (
        <ul className="rule-list" aria-label={t('notifications.tabs.rules')}>
          {rules.map((rule) => (
            <RuleItem key={rule.id} {...{ rule, notifiers }} onAsk={mayAdminister ? setDialog : null} />
          ))}
        </ul>
      )}
      {dialog === null ? null : dialog.kind === 'remove' ? (
        <RemovalQuestion rule={dialog.rule} onDone={onDone} onClose={close} />
      ) : (
        <RuleForm rule={dialog.kind === 'edit' ? dialog.rule : null} {...{ notifiers, onDone }} onClose={close} />
      )}
    </>
  )
}

function NoNotifiers() {
  return (
    <Empty title={t('notifications.rules.noChannels')}>
      <p>{t('notifications.rules.noChannelsNext')}</p>
      <Link className="action" to={pathOf('notifications')}>
        {t('notifications.tabs.channels')}
      </Link>
    </Empty>
  )
}

/** Offers a rule that suits most installations. */
function NoRules({ notifiers, onDone }: Omit<ListProps, 'rules'>) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const names = useRuleNames(notifiers)
  const mayAdminister = useMay('administer')
  const { send, isSending, problem } = useRequest()
  const enabled = notifiers.filter((notifier) => notifier.enabled)
  const rule = suggestedRule(
    t('notifications.rules.suggestedName'),
    enabled.map(({ id }) => id),
  )
  const add = async () => {
    const response = await send(() => api.write('POST', rulesPath, rule, 'object'))
    if (!response?.ok) return
    showMessage({ text: t('notifications.rules.added', { name: plainText(response.body.name) }) })
    await onDone()
  }
  return (
    <Empty title={t('notifications.rules.none')}>
      <p>{t('notifications.rules.noneNext')}</p>
      {enabled.length === 0 || !mayAdminister ? null : (
        <>
          <p>{t('notifications.rules.suggestion')}</p>
          <p className="rule-sentence">
            <bdi>{ruleSentence(rule, names)}</bdi>
          </p>
          <button type="button" className="action" disabled={isSending} onClick={add}>
            {t('notifications.rules.addSuggested')}
          </button>
          {problem === null ? null : <ProblemLine problem={problem} field={problem.field} />}
        </>
      )}
    </Empty>
  )
}

interface RuleItemProps extends Pick<ListProps, 'notifiers'> {
  readonly rule: Rule
  readonly onAsk: ((question: DialogState) => void) | null
}

function RuleItem({ rule, notifiers, onAsk }: RuleItemProps) {
  const names = useRuleNames(notifiers)
  const name = plainText(rule.name)
  const warning = warningOf(rule, notifiers)
  return (
    <li className="rule">
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <p className="rule-sentence">
        <bdi>{ruleSentence(rule, names)}</bdi>
      </p>
      {warning === null ? null : <p className="rule-warning">{warning}</p>}
      {onAsk === null ? null : (
        <span className="row-actions">
          {(['edit', 'remove'] as const).map((kind) => (
            <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, rule })}>
              {t(`notifications.rules.${kind}`)}
              <span className="visually-hidden"> {name}</span>
            </button>
          ))}
        </span>
      )}
    </li>
  )
}

/** Null if the rule sends to all its notifiers. */
function warningOf(
  { notification_channel_ids, escalate }: Rule,
  notifiers: readonly NotificationChannelBody[],
): string | null {
  if (notification_channel_ids.length === 0) return t('notifications.rules.noChannel')
  const ids = new Set([...notification_channel_ids, ...(escalate?.notification_channel_ids ?? [])])
  const disabled = notifiers.filter(({ id, enabled }) => ids.has(id) && !enabled)
  if (disabled.length === 0) return null
  const names = formatList(disabled.map(({ name }) => plainText(name)))
  return t('notifications.rules.disabledChannels', { names, count: disabled.length })
}

function RemovalQuestion({ rule, ...rest }: { rule: Rule; onDone: () => Promise<void>; onClose: () => void }) {
  const name = plainText(rule.name)
  return (
    <Removal
      {...rest}
      title={t('notifications.removal.title', { name })}
      action={t('notifications.rules.remove')}
      done={t('notifications.removal.done', { name })}
      path={`${rulesPath}${rule.id}/`}
      record={rule}
    >
      <p>{t('notifications.rules.removalConsequence')}</p>
    </Removal>
  )
}
