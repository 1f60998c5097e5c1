/** Asks before the user leaves unsaved input, and reports input that was kept from the last visit. */

import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { useServices } from '../../app/context.ts'
import { formatList, formatShortDuration } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { serviceNow } from '../../app/service-time.ts'
import { useSession } from '../../app/session.ts'
import { Confirmation } from '../dialogs/dialog.tsx'
import { useShowMessage } from '../dialogs/messages.tsx'
import { accountOf, listKeptInput } from './kept-input.ts'
import { isAnyUnsaved, UnsavedFormsContext, useUnsavedForms } from './unsaved-forms.ts'

export function UnsavedGuard({ children }: { children: ReactNode }) {
  const forms = useUnsavedForms()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isAnyUnsaved(forms),
    enableBeforeUnload: () => isAnyUnsaved(forms),
    withResolver: true,
  })
  useKeptMessage()
  return (
    <UnsavedFormsContext value={forms}>
      {children}
      {status === 'blocked' ? (
        <Confirmation
          title={t('parts.form.unsaved.leaveTitle')}
          action={t('parts.form.unsaved.leave')}
          cancel={t('parts.form.unsaved.stay')}
          isSending={false}
          problem={null}
          onConfirm={proceed}
          onClose={reset}
        >
          <p>{t('parts.form.unsaved.leaveText')}</p>
        </Confirmation>
      ) : null}
    </UnsavedFormsContext>
  )
}

function useKeptMessage(): void {
  const { mount } = useServices()
  const session = useSession()
  const showMessage = useShowMessage()
  useEffect(() => {
    if (session === null) return
    const now = serviceNow()
    const kept = listKeptInput(accountOf(mount, session), now)
    if (kept.length === 0) return
    const forms = kept.map(({ title, at }) =>
      t('parts.form.kept.form', { title, age: t('parts.ago', { age: formatShortDuration(now - at) }) }),
    )
    showMessage({ text: t('parts.form.kept.message', { forms: formatList(forms) }) })
  }, [mount, session, showMessage])
}
