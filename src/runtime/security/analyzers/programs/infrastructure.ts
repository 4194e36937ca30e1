/** Clusters, clouds and machines of others: what takes away more than this machine. */
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { type Checks, each, has, words } from './check.js';

/** Options of these programs that take the next word. */
const valued =
  /^(?:-n|--namespace|--context|--kubeconfig|--cluster|--user|-l|--selector|-o|--output|-f|--filename|--profile|--region|--project|--zone|-g|--resource-group|--subscription|--name|-c|--container|--account|--query|--endpoint-url|-a|--app|-s|--server|--token|--as)$/;
const production = /(?:^|[-_/.=:])(?:prod|production|live|kube-system|default-backend|main-db)(?:$|[-_/.:])/i;
const insists =
  /^(?:--force|-f|--yes|-y|--quiet|-q|--all|--recursive|--auto-approve|-auto-approve|--no-confirm|--no-wait|--skip-final-snapshot|--force-destroy|--cascade.*|--grace-period=0|--purge|--confirm|--delete-all-versions|--force-delete-without-recovery|--all-namespaces|-A)$/;
const destroying =
  /^(?:[\w-]+[:-])?(?:delete|destroy|terminate|purge|nuke|wipe|obliterate|drop|rm)(?:[:-][\w-]+)?$/;
const weakening =
  /^(?:[\w-]+[:-])?(?:remove|deregister|revoke|detach|disable|deactivate|reset|stop|suspend|uninstall|rollback|abandon|undeploy)(?:[:-][\w-]+)?$/;
const opening =
  /(?:attach|put)-(?:user|role|group)-policy|add-user-to-group|update-assume-role-policy|create-login-profile|create-policy-version|add-iam-policy-binding|set-iam-policy|role assignment create|authorize-security-group-ingress|firewall-rules create|nsg rule create|put-bucket-(?:acl|policy)|put-public-access-block|delete-public-access-block|put-object-acl|modify-image-attribute|modify-snapshot-attribute|modify-db-snapshot-attribute|update-function-configuration|add-permission|set-public-access|allowBlobPublicAccess|create-user|service-accounts create/;
const wide =
  /Administrator|FullAccess|"\*"|0\.0\.0\.0\/0|::\/0|\*:\*|owner|editor\b|admin|allUsers|allAuthenticatedUsers|public|--principal[ =]['"]?\*|group-names?[ =]all|Everyone|PowerUser/i;
const silencing =
  /(?:stop-logging|delete-trail|delete-detector|disable-security-hub|delete-flow-logs|delete-configuration-recorder|stop-configuration-recorder|disable-alarm-actions|put-event-selectors|logging sinks delete|diagnostic-settings delete|guardduty update-detector.*--no-enable|update-trail|disable-macie|delete-log-(?:group|stream)|deactivate-mfa-device)/;

export const infrastructure: Checks = {
  ...each(
    'terraform tofu terragrunt pulumi cdk cdktf sls serverless sam copilot amplify eksctl kops sst',
    ({ args }, scope) => {
      if (args.some((arg) => /^-?-?destroy$|^run-all$/.test(arg)) && args.some((arg) => /destroy/.test(arg)))
        scope.high('Destroys what runs in the cloud.');
      else if (/^(?:remove|delete|down)$/.test(words(args, valued)[0] ?? ''))
        scope.high('Destroys what runs in the cloud.');
      else if (/\bstate (?:rm|push)\b|\bforce-unlock\b|\btaint\b/.test(lineOf(args)))
        scope.medium('Changes what is known of the cloud.');
      else if (
        args.some((arg) => /^(?:apply|up|deploy|run-all)$/.test(arg)) &&
        args.some((arg) => /auto-approve|^--yes$|^-y$|^--force$|^--require-approval/.test(arg))
      )
        scope.medium('Changes what runs in the cloud without asking.');
    },
  ),
  ...each('kubectl oc k3s microk8s', judgeCluster),
  helm: ({ args, substituted }, scope) => {
    const [verb, ...names] = words(args, valued);
    if (/^(?:uninstall|delete|del|un)$/.test(verb ?? '') && !args.includes('--dry-run'))
      scope.findings.add(
        names.length > 1 || substituted.length > 0 || args.some((arg) => production.test(arg))
          ? 'high'
          : 'medium',
        'Removes an application from a cluster.',
      );
  },
  ...each('kubeadm k3s-uninstall.sh rke rke2-uninstall.sh', ({ program, args }, scope) => {
    if (program.includes('uninstall') || /^(?:reset|remove)$/.test(args[0] ?? ''))
      scope.high('Takes a cluster apart.');
  }),
  aws: (invocation, scope) => {
    const line = lineOf(invocation.args);
    if (/sts (?:get-session-token|assume-role)|ecr get-login-password/.test(line))
      scope.medium('Prints credentials of the cloud.');
    if (/\bs3 (?:rb|rm|mv)\b|\bs3 sync\b.*--delete|s3api delete-object\b/.test(line)) {
      const all = /--force|--recursive|--delete/.test(line);
      scope.findings.add(all ? 'high' : 'medium', 'Deletes what is kept in the cloud.');
      return;
    }
    if (/ssm send-command|lambda invoke\b.*(?:exec|cmd)/.test(line))
      scope.medium('Runs a command on other machines.');
    judgeCloud(invocation, scope);
  },
  ...each('gsutil s3cmd mc rclone azcopy b2 s5cmd', ({ args }, scope) => {
    const line = words(args, /^$/);
    const all = args.some(
      (arg) =>
        /^(?:-[a-zA-Z]*[rRf][a-zA-Z]*|--recursive.*|--force|--delete.*|--del.*)$/.test(arg) ||
        /\/\*+$/.test(arg),
    );
    const verb = line.find((word) =>
      /^(?:rm|rb|del|delete|remove|purge|deletefile|rmdirs|delete-bucket)$/.test(word),
    );
    if (verb !== undefined && line.indexOf(verb) < 2)
      scope.findings.add(
        all || /^(?:purge|rb|delete-bucket)$/.test(verb) ? 'high' : 'medium',
        'Deletes what is kept in the cloud.',
      );
    if (/^(?:rsync|sync|mirror)$/.test(line[0] ?? '') && all)
      scope.medium('Deletes what is kept in the cloud.');
    if (/^(?:acl|iam|setacl|policy|anonymous)$/.test(line[0] ?? '') && wide.test(lineOf(args)))
      scope.high('Gives wide rights in the cloud.');
  }),
  ...each(
    'gcloud az doctl heroku flyctl fly vercel hcloud linode-cli oci ibmcloud scw wrangler netlify railway render firebase aliyun tccli openstack nova civo exo vultr-cli upctl cf ovhcloud neonctl planetscale pscale atlas confluent stripe',
    judgeCloud,
  ),
  ...each('docker podman nerdctl', ({ args, substituted }, scope) => {
    const line = lineOf(args);
    if (/\b(?:system|volume|image|container|builder|network) prune\b|\bsystem reset\b/.test(line))
      scope.findings.add(
        /\bsystem prune\b.*--volumes|\bsystem reset\b|\bvolume prune\b.*(?:-a|--all)\b/.test(line)
          ? 'high'
          : 'medium',
        'Removes what containers have kept.',
      );
    if (/\bvolume rm\b/.test(line))
      scope.findings.add(
        substituted.length > 0 || args.some((arg) => production.test(arg)) ? 'high' : 'medium',
        'Removes what containers have kept.',
      );
    if (
      (/\brm\b/.test(line) && args.includes('-f') && line.includes('\0')) ||
      /\bdown\b.*(?:-v|--volumes|--rmi)\b/.test(line)
    )
      scope.medium('Removes containers or what they have kept.');
    if (/\bswarm leave\b.*--force|\b(?:stack|service) rm\b/.test(line))
      scope.findings.add(production.test(line) ? 'high' : 'medium', 'Takes services of a cluster away.');
    if (args[0] === 'push') scope.medium('Publishes an image.');
    if (args[0] === 'login') scope.medium('Stores a password of a registry.');
  }),
  'docker-compose': ({ args }, scope) => {
    if (args.includes('down') && args.some((arg) => arg === '-v' || arg === '--volumes'))
      scope.medium('Removes what containers have kept.');
  },
  ...each(
    'virsh VBoxManage vboxmanage qm pct lxc incus multipass govc vmrun esxcli xe',
    ({ args }, scope) => {
      const line = lineOf(args);
      if (
        /\b(?:undefine|destroy|vm\.destroy|unregistervm|deleteVM|snapshot-delete|vol-delete|pool-delete|delete)\b/.test(
          line,
        )
      )
        scope.high('Removes a virtual machine.');
    },
  ),
  vagrant: ({ args }, scope) => {
    if (args[0] === 'destroy') scope.medium('Removes a virtual machine.');
  },
};

function judgeCluster({ args, input }: Invocation, scope: Scope): void {
  const [verb = '', noun = ''] = words(args, valued);
  const dry = args.some((arg) => arg.startsWith('--dry-run'));
  if (verb === 'delete' && !dry) {
    const all = args.some((arg) => /^(?:--all|--all-namespaces|-A)$/.test(arg));
    const whole =
      /^(?:ns|namespaces?|no|nodes?|pvc?|crds?|persistentvolume.*|customresourcedef.*|storageclass.*|all|clusterrole.*|(?:mutating|validating)webhook.*)(?:\/|,|$)/.test(
        noun,
      );
    scope.findings.add(
      all || whole || args.some((arg) => production.test(arg)) ? 'high' : 'medium',
      'Deletes objects of a cluster.',
    );
  }
  if (/^(?:drain|cordon|taint|replace)$/.test(verb))
    scope.medium('Takes a machine out of a cluster, or replaces objects.');
  if (
    verb === 'scale' &&
    args.some((arg) => /^--replicas=?0?$/.test(arg)) &&
    args.some((arg) => production.test(arg) || arg === '--all')
  )
    scope.high('Stops a part of a cluster.');
  if (
    /^(?:get|describe)$/.test(verb) &&
    /^(?:.*,)?secrets?(?:\/|,|$)/.test(noun) &&
    args.some((arg) => /^(?:-o|--output|--template)/.test(arg)) &&
    !args.some((arg) => /^-?o?=?(?:name|wide)$/.test(arg))
  )
    scope.high('Prints secrets of a cluster.');
  if (
    /^(?:create|patch|edit|apply|adm)$/.test(verb) &&
    args.some((arg) => /cluster-admin|--verb=\*/.test(arg))
  )
    scope.high('Gives all rights in a cluster.');
  if (
    [...args, input.text ?? ''].some((arg) =>
      /["']?\b(?:privileged|hostPID|hostNetwork|hostIPC)["']?\s*:\s*true|["']?hostPath["']?\s*:/.test(arg),
    )
  )
    scope.high('Starts a container with rights on the machine.');
  if (verb === 'debug' && noun.startsWith('node/')) scope.high('Opens a machine of a cluster.');
  if (verb === 'proxy' && args.some((arg) => /0\.0\.0\.0|--accept-hosts/.test(arg)))
    scope.high('Opens the control of a cluster to the network.');
  if (verb === 'exec' || verb === 'debug' || verb === 'cp' || verb === 'run')
    scope.medium('Works inside a running part of a cluster.');
}

/** The verbs of a cloud are the same in all of them. */
function judgeCloud({ args }: Invocation, scope: Scope): void {
  const line = lineOf(args);
  if (has(args, '', 'dry-run', 'dryrun', 'help')) return;
  if (silencing.test(line)) scope.high('Switches off the record or the watch of a cloud.');
  const named = words(args, valued).slice(0, 5);
  const schedules = named.some((word) => /^(?:schedule-key-deletion|schedule-deletion)$/.test(word));
  if (schedules || named.some((word) => destroying.test(word)))
    scope.high('Deletes what is kept in the cloud.');
  else if (named.some((word) => weakening.test(word)))
    scope.findings.add(
      args.some((arg) => insists.test(arg) || production.test(arg)) ? 'high' : 'medium',
      'Takes something in the cloud away.',
    );
  if (
    opening.test(line) &&
    (wide.test(line) || /create-login-profile|delete-public-access-block|create-policy-version/.test(line))
  )
    scope.high('Gives wide rights in the cloud.');
}

/** As much of the words as says what is meant. */
function lineOf(args: readonly string[]): string {
  return args.join(' ').slice(0, 4096);
}
