import { useEffect, useState } from 'react'
import type {
  NotificationChannelBody,
  NotificationRuleBody,
  NotificationTestBody,
} from '../../src/contract/notifications.ts'
import { useServices } from '../app/context.ts'
import { formatDuration, formatList, formatUnit, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { Confirmation, Dialog, Removal } from '../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { notifiersPath } from '../parts/notifiers.ts'
import { rulesFor } from './notifier-columns.tsx'
import type { NewSecret } from './secret-once.tsx'

interface DialogProps {
  readonly notifier: NotificationChannelBody
  onDone(): Promise<void>
  onClose(): void
}

export function TestDialog({ notifier: { id, name }, onDone, onClose }: DialogProps) {
  const { api } = useServices()
  const { send, isSending, problem } = useRequest()
  const [tested, setTested] = useState<NotificationTestBody | null>(null)
  const test = async () => {
    setTested(null)
    const response = await send(() => api.write('POST', `${notifiersPath}${id}/test`, undefined, 'object'))
    if (response?.ok) setTested(response.body)
    if (response !== null) await onDone()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only once
  useEffect(() => {
    void test()
  }, [])
  return (
    <Dialog title={t('notifications.test.title', { name: plainText(name) })} onClose={onClose}>
      <div className="dialog-text" role="status">
        {tested === null && problem === null ? <p>{t('notifications.test.testing')}</p> : null}
        {tested === null ? null : <TestResult tested={tested} />}
      </div>
      {problem === null ? null : <ProblemLine problem={problem} field={problem.field} />}
      <div className="dialog-actions">
        <button type="button" className="choice" disabled={isSending} onClick={test}>
          {t('notifications.test.again')}
        </button>
        <button type="button" className="choice" data-tone="usual" onClick={onClose}>
          {t('parts.dialog.close')}
        </button>
      </div>
    </Dialog>
  )
}

export function RotationQuestion({
  notifier: { id, name },
  onSecret,
  onDone,
  onClose,
}: DialogProps & { onSecret(secret: NewSecret): void }) {
  const { api } = useServices()
  const { send, isSending, problem } = useRequest()
  const rotate = async () => {
    const response = await send(() => api.write('POST', `${notifiersPath}${id}/rotate`, undefined, 'object'))
    if (!response?.ok) return
    const { secret, previous_until: previousUntil } = response.body
    onClose()
    onSecret({ name, secret, previousUntil })
    await onDone()
  }
  return (
    <Confirmation
      title={t('notifications.rotate.title', { name: plainText(name) })}
      action={t('notifications.rotate.action')}
      {...{ isSending, problem, onClose }}
      onConfirm={rotate}
    >
      <p>{t('notifications.rotate.consequence')}</p>
    </Confirmation>
  )
}

export function RemovalQuestion({
  notifier: { id, name: text },
  rules,
  ...rest
}: DialogProps & { readonly rules: readonly NotificationRuleBody[] }) {
  const name = plainText(text)
  const used = rulesFor(rules, id)
  return (
    <Removal
      {...rest}
      title={t('notifications.removal.title', { name })}
      action={t('notifications.channels.remove')}
      done={t('notifications.removal.done', { name })}
      path={`${notifiersPath}${id}/`}
    >
      <p>{t('notifications.removal.consequence')}</p>
      {used.length === 0 ? null : (
        <p>{t('notifications.removal.rules', { names: formatList(used.map((rule) => plainText(rule.name))) })}</p>
      )}
    </Removal>
  )
}

function TestResult({ tested }: { tested: NotificationTestBody }) {
  const { ok, status, response, error, duration_ms } = tested
  const time = duration_ms < 1_000 ? formatUnit('millisecond', duration_ms) : formatDuration(duration_ms)
  // Most errors contain the response.
  const isShown = response !== null && response.trim() !== '' && error?.includes(response.trim()) !== true
  return (
    <>
      <p>
        <span className="tag" data-tone={ok ? 'good' : 'bad'}>
          {t(ok ? 'notifications.test.accepted' : 'notifications.test.failed')}
        </span>{' '}
        {ok ? t('notifications.test.acceptedNext') : <bdi>{plainText(error ?? '')}</bdi>}
      </p>
      <p>
        {status === null
          ? t('notifications.test.noResponse', { time })
          : t('notifications.test.status', { status, time })}
      </p>
      {isShown ? (
        <>
          <p>{t('notifications.test.response')}</p>
          <pre className="response">{plainLines(response)}</pre>
        </>
      ) : null}
    </>
  )
}

function plainLines(text: string): string {
  return text.split(/\r?\n/).map(plainText).join('\n')
}
