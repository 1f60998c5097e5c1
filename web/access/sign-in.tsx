/** Name and password, and on to where somebody was going. */

import { pathOf } from '../../src/model/pages.ts'
import type { SetupBody, SignedInBody } from '../../src/model/people.ts'
import { safeNext } from '../address.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import { Field, PasswordField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useReading } from '../reading.ts'
import { enter } from './enter.ts'
import { Entrance } from './entrance.tsx'

export function SignIn() {
  const { mount, api } = useSurroundings()
  const { body: setup } = useReading('/api/auth/setup', isObject<SetupBody>)
  const next = safeNext(new URLSearchParams(location.search).get('next'), { origin: location.origin, mount })
  const send = (values: FormData) => enter<SignedInBody>(api, '/api/auth/login', Object.fromEntries(values))
  return (
    <Entrance title={t('access.signIn.title')}>
      {setup?.needed !== true ? null : (
        <p>
          {t('access.signIn.setUpFirst')} <a href={mount + pathOf('set_up')}>{t('access.signIn.setUpLink')}</a>
        </p>
      )}
      <Form action={t('access.signIn.action')} send={send} onDone={() => location.replace(next ?? `${mount}/`)}>
        <Field
          name="username"
          label={t('access.signIn.username')}
          autoComplete="username"
          autoCapitalize="none"
          autoFocus={true}
        />
        <PasswordField name="password" label={t('access.signIn.password')} autoComplete="current-password" />
      </Form>
      {next === null ? null : (
        <p className="hint">
          {t('access.signIn.nextPage')} <code>{next}</code>
        </p>
      )}
      <details className="hint">
        <summary>{t('access.signIn.forgottenTitle')}</summary>
        <p>{t('access.signIn.forgotten')}</p>
        <code>micwatch create_admin --username … --reset</code>
      </details>
    </Entrance>
  )
}
