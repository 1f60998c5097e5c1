/** The authenticator app of the signed-in user: set up, confirm and remove. */

import { useState } from 'react'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import type { Received } from '../app/operations.ts'
import { useRequest } from '../app/resource.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { CopyField } from '../parts/forms/copy-field.tsx'
import { Field, PasswordField } from '../parts/forms/field.tsx'
import { Form } from '../parts/forms/form.tsx'
import { QrShape } from '../parts/qr-code.tsx'

type Setup = Received<'POST', '/api/auth/totp/', 'object'>

interface AuthenticatorAppProps {
  readonly isInUse: boolean
  readonly isRequired: boolean
  /** Must read the session again. */
  onChanged(): Promise<void>
}

export function AuthenticatorApp({ isInUse, isRequired, onChanged }: AuthenticatorAppProps) {
  const [setup, setSetup] = useState<Setup | null>(null)
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[] | null>(null)
  // The session may not have been read again.
  const [isConfirmed, setConfirmed] = useState(false)
  const confirmed = async (codes: readonly string[]) => {
    setSetup(null)
    setRecoveryCodes(codes)
    setConfirmed(true)
    await onChanged()
  }
  const removed = async () => {
    setConfirmed(false)
    await onChanged()
  }
  if (recoveryCodes !== null) return <RecoveryCodes codes={recoveryCodes} onDone={() => setRecoveryCodes(null)} />
  if (isInUse || isConfirmed) return <Remove onRemoved={removed} />
  if (setup !== null) return <Confirm setup={setup} onConfirmed={confirmed} />
  return <Start isRequired={isRequired} onStarted={setSetup} />
}

function Start({ isRequired, onStarted }: { isRequired: boolean; onStarted: (setup: Setup) => void }) {
  const { api } = useServices()
  const { send, isSending, problem } = useRequest()
  const start = async () => {
    const response = await send(() => api.write('POST', '/api/auth/totp/', undefined, 'object'))
    if (response?.ok) onStarted(response.body)
  }
  return (
    <>
      {isRequired ? <p role="alert">{t('access.totp.required')}</p> : <p className="hint">{t('access.totp.intro')}</p>}
      {problem === null ? null : <ProblemLine problem={problem} />}
      <button type="button" className="choice" disabled={isSending} onClick={start}>
        {t('access.totp.start')}
      </button>
    </>
  )
}

function Confirm({ setup, onConfirmed }: { setup: Setup; onConfirmed: (codes: readonly string[]) => Promise<void> }) {
  const { api } = useServices()
  return (
    <div className="totp-setup">
      <p>{t('access.totp.scan')}</p>
      <div className="qr">
        <QrShape content={setup.otpauth_url} label={t('access.totp.qr')} />
      </div>
      <CopyField label={t('access.totp.secret')} text={setup.secret} />
      <Form
        action={t('access.totp.confirm')}
        send={(values) => api.write('POST', '/api/auth/totp/confirm', Object.fromEntries(values), 'object')}
        onDone={({ recovery_codes }) => void onConfirmed(recovery_codes)}
      >
        <Field
          name="code"
          label={t('access.totp.code')}
          hint={t('access.totp.codeHint')}
          autoComplete="one-time-code"
          inputMode="numeric"
        />
      </Form>
    </div>
  )
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  return (
    <div className="recovery" role="alert">
      <p>{t('access.totp.recovery')}</p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <CopyField label={t('access.totp.recoveryCodes')} text={codes.join(' ')} />
      <button type="button" className="choice" onClick={onDone}>
        {t('access.totp.stored')}
      </button>
    </div>
  )
}

function Remove({ onRemoved }: { onRemoved: () => Promise<void> }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const removed = async () => {
    await onRemoved()
    showMessage({ text: t('access.totp.removed') })
  }
  return (
    <>
      <p>{t('access.totp.inUse')}</p>
      <Form
        action={t('access.totp.remove')}
        send={(values) => api.write('POST', '/api/auth/totp/remove', Object.fromEntries(values), 'nothing')}
        onDone={() => void removed()}
      >
        <PasswordField name="current_password" label={t('access.account.current')} autoComplete="current-password" />
      </Form>
    </>
  )
}
