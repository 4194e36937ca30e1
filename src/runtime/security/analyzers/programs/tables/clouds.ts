/** Clusters, clouds and other machines: commands that remove more than this machine. */
import type { Invocation } from '../../shell/invocation.js';
import type { Condition, Rule } from '../rule.js';

/** Options of these programs that take the next word. */
const values =
  '-n --namespace --context --kubeconfig --cluster --user -l --selector -o --output -f --filename --profile --region --project --zone -g --resource-group --subscription --name -c --container --account --query --endpoint-url -a --app -s --server --token --as';
const production = /(?:^|[-_/.=:])(?:prod|production|live|kube-system|default-backend|main-db)(?:$|[-_/.:])/i;
const inProduction: Condition = { arg: production };
const insists =
  /^(?:--force|-f|--yes|-y|--quiet|-q|--all|--recursive|--auto-approve|-auto-approve|--no-confirm|--no-wait|--skip-final-snapshot|--force-destroy|--cascade.*|--grace-period=0|--purge|--confirm|--delete-all-versions|--force-delete-without-recovery|--all-namespaces|-A)$/;
const destroying = /^(?:[\w-]+[:-])?(?:delete|destroy|terminate|purge|nuke|wipe|obliterate|drop|rm)(?:[:-][\w-]+)?$|^schedule-(?:key-)?deletion$/;
const weakening =
  /^(?:[\w-]+[:-])?(?:remove|deregister|revoke|detach|disable|deactivate|reset|stop|suspend|uninstall|rollback|abandon|undeploy)(?:[:-][\w-]+)?$/;
const opening =
  /(?:attach|put)-(?:user|role|group)-policy|add-user-to-group|update-assume-role-policy|create-login-profile|create-policy-version|add-iam-policy-binding|set-iam-policy|role assignment create|authorize-security-group-ingress|firewall-rules create|nsg rule create|put-bucket-(?:acl|policy)|put-public-access-block|delete-public-access-block|put-object-acl|modify-image-attribute|modify-snapshot-attribute|modify-db-snapshot-attribute|update-function-configuration|add-permission|set-public-access|allowBlobPublicAccess|create-user|service-accounts create/;
const wide =
  /Administrator|FullAccess|"\*"|0\.0\.0\.0\/0|::\/0|\*:\*|owner|editor\b|admin|allUsers|allAuthenticatedUsers|public|--principal[ =]['"]?\*|group-names?[ =]all|Everyone|PowerUser/i;
const silencing =
  /(?:stop-logging|delete-trail|delete-detector|disable-security-hub|delete-flow-logs|delete-configuration-recorder|stop-configuration-recorder|disable-alarm-actions|put-event-selectors|logging sinks delete|diagnostic-settings delete|guardduty update-detector.*--no-enable|update-trail|disable-macie|delete-log-(?:group|stream)|deactivate-mfa-device)/;

const destroyed = 'Destroys what runs in the cloud.';
const deleted = 'Deletes what is kept in the cloud.';
const widened = 'Gives wide rights in the cloud.';
const kept = 'Removes what containers have kept.';

const builders = 'terraform tofu terragrunt pulumi cdk cdktf sls serverless sam copilot amplify eksctl kops sst';
const clusters = 'kubectl oc k3s microk8s';
const stores = 'gsutil s3cmd mc rclone azcopy b2 s5cmd';
/** The verbs of a cloud are the same in all of them. */
const clouds =
  'aws gcloud az doctl heroku flyctl fly vercel hcloud linode-cli oci ibmcloud scw wrangler netlify railway render firebase aliyun tccli openstack nova civo exo vultr-cli upctl cf ovhcloud neonctl planetscale pscale atlas confluent stripe';
const engines = 'docker podman nerdctl';
const notReally: Condition = { option: '--dry-run --dryrun --help' };
const takesAll = /(?:^| )(?:-[a-zA-Z]*[rRf][a-zA-Z]*|--recursive\S*|--force|--delete\S*|--del\S*|\S*\/\*+)(?: |$)/;

export const infrastructure: readonly Rule[] = [
  {
    programs: builders,
    values,
    cases: [
      { arg: /^-?-?destroy$|^run-all$/, line: /destroy/, high: destroyed },
      { verb: 'remove delete down', high: destroyed },
      { line: /\bstate (?:rm|push)\b|\bforce-unlock\b|\btaint\b/, medium: 'Changes what is known of the cloud.' },
      {
        arg: 'apply up deploy run-all',
        line: /auto-approve|(?:^| )(?:--yes|-y|--force)(?: |$)|--require-approval/,
        medium: 'Changes what runs in the cloud without asking.',
      },
    ],
  },
  { programs: clusters, values, verb: 'delete', unless: { arg: '--dry-run*' }, medium: 'Deletes objects of a cluster.', highWhen: { test: deletesMuch } },
  { programs: clusters, values, verb: 'drain cordon taint replace', medium: 'Takes a machine out of a cluster, or replaces objects.' },
  {
    programs: clusters,
    values,
    verb: 'scale',
    arg: /^--replicas=?0?$/,
    test: ({ args }) => args.some((arg) => production.test(arg) || arg === '--all'),
    high: 'Stops a part of a cluster.',
  },
  {
    programs: clusters,
    values,
    words: /^(?:get|describe) (?:\S*,)?secrets?(?:\/|,| |$)/,
    arg: '-o* --output* --template*',
    unless: { arg: /^-?o?=?(?:name|wide)$/ },
    high: 'Prints secrets of a cluster.',
  },
  { programs: clusters, values, verb: 'create patch edit apply adm', arg: /cluster-admin|--verb=\*/, high: 'Gives all rights in a cluster.' },
  { programs: clusters, test: describesHostRights, high: 'Starts a container with rights on the machine.' },
  { programs: clusters, values, words: /^debug node\//, high: 'Opens a machine of a cluster.' },
  { programs: clusters, values, verb: 'proxy', arg: /0\.0\.0\.0|--accept-hosts/, high: 'Opens the control of a cluster to the network.' },
  { programs: clusters, values, verb: 'exec debug cp run', medium: 'Works inside a running part of a cluster.' },
  {
    programs: 'helm',
    values,
    verb: 'uninstall delete del un',
    unless: { arg: '--dry-run' },
    medium: 'Removes an application from a cluster.',
    highWhen: { test: uninstallsMany },
  },
  { programs: 'kubeadm rke', verb: 'reset remove', high: 'Takes a cluster apart.' },
  { programs: 'k3s-uninstall.sh rke2-uninstall.sh', high: 'Takes a cluster apart.' },
  { programs: 'aws', line: /sts (?:get-session-token|assume-role)|ecr get-login-password/, medium: 'Prints credentials of the cloud.' },
  { programs: 'aws', line: /ssm send-command|lambda invoke\b.*(?:exec|cmd)/, medium: 'Runs a command on other machines.' },
  {
    programs: 'aws',
    line: /\bs3 (?:rb|rm|mv)\b|\bs3 sync\b.*--delete|s3api delete-object\b/,
    medium: deleted,
    highWhen: { line: /--force|--recursive|--delete/ },
  },
  {
    programs: stores,
    words: /^(?:\S+ )?(?:rm|rb|del|delete|remove|purge|deletefile|rmdirs|delete-bucket)(?: |$)/,
    medium: deleted,
    highWhen: { test: deletesStore },
  },
  { programs: stores, verb: 'rsync sync mirror', line: takesAll, medium: deleted },
  { programs: stores, verb: 'acl iam setacl policy anonymous', line: wide, high: widened },
  { programs: clouds, line: silencing, unless: notReally, high: 'Switches off the record or the watch of a cloud.' },
  {
    programs: clouds,
    values,
    unless: notReally,
    cases: [
      { program: 'aws', words: 's3', low: true },
      { program: 'aws', words: 's3api delete-object', low: true },
      { test: asksFor(destroying), high: deleted },
      {
        test: asksFor(weakening),
        medium: 'Takes something in the cloud away.',
        highWhen: { test: ({ args }) => args.some((arg) => insists.test(arg) || production.test(arg)) },
      },
    ],
  },
  {
    programs: clouds,
    unless: notReally,
    line: opening,
    cases: [
      { line: wide, high: widened },
      { line: /create-login-profile|delete-public-access-block|create-policy-version/, high: widened },
    ],
  },
  {
    programs: engines,
    line: /\b(?:system|volume|image|container|builder|network) prune\b|\bsystem reset\b/,
    medium: kept,
    highWhen: { line: /\bsystem prune\b.*--volumes|\bsystem reset\b|\bvolume prune\b.*(?:-a|--all)\b/ },
  },
  {
    programs: engines,
    line: /\bvolume rm\b/,
    medium: kept,
    highWhen: { test: ({ args, substituted }) => substituted.length > 0 || args.some((arg) => production.test(arg)) },
  },
  { programs: engines, line: /\bdown\b.*(?:-v|--volumes|--rmi)\b/, medium: 'Removes containers or what they have kept.' },
  { programs: engines, line: /\brm\b/, arg: '-f', operand: /\0/, medium: 'Removes containers or what they have kept.' },
  { programs: engines, line: /\bswarm leave\b.*--force|\b(?:stack|service) rm\b/, medium: 'Takes services of a cluster away.', highWhen: inProduction },
  { programs: engines, verb: 'push', medium: 'Publishes an image.' },
  { programs: engines, verb: 'login', medium: 'Stores a password of a registry.' },
  { programs: 'docker-compose', arg: 'down', line: ['-v', '--volumes'], medium: kept },
  {
    programs: 'virsh VBoxManage vboxmanage qm pct lxc incus multipass govc vmrun esxcli xe',
    line: /\b(?:undefine|destroy|vm\.destroy|unregistervm|deleteVM|snapshot-delete|vol-delete|pool-delete|delete)\b/,
    high: 'Removes a virtual machine.',
  },
  { programs: 'vagrant', verb: 'destroy', medium: 'Removes a virtual machine.' },
];

const wholes =
  /^(?:ns|namespaces?|no|nodes?|pvc?|crds?|persistentvolume.*|customresourcedef.*|storageclass.*|all|clusterrole.*|(?:mutating|validating)webhook.*)(?:\/|,|$)/;

function deletesMuch({ args }: Invocation): boolean {
  const noun = args[args.indexOf('delete') + 1] ?? '';
  return args.some((arg) => arg === '--all' || arg === '--all-namespaces' || arg === '-A' || production.test(arg)) || wholes.test(noun);
}

const taking = new Set(values.split(' '));

function wordsOf(args: readonly string[]): readonly string[] {
  return args.filter((arg, index) => !arg.startsWith('-') && !taking.has(args[index - 1] ?? ''));
}

/** The verb of a cloud is among its first words. */
function asksFor(verb: RegExp) {
  return ({ args }: Invocation): boolean =>
    wordsOf(args)
      .slice(0, 5)
      .some((word) => verb.test(word));
}

function uninstallsMany({ args, substituted }: Invocation): boolean {
  return wordsOf(args).length > 2 || substituted.length > 0 || args.some((arg) => production.test(arg));
}

function deletesStore({ args }: Invocation): boolean {
  return takesAll.test(args.join(' ')) || args.some((arg) => /^(?:purge|rb|delete-bucket)$/.test(arg));
}

/** What a manifest asks for, in words or as input. */
function describesHostRights({ args, input }: Invocation): boolean {
  return [...args, input.text ?? ''].some((text) => /["']?\b(?:privileged|hostPID|hostNetwork|hostIPC)["']?\s*:\s*true|["']?hostPath["']?\s*:/.test(text));
}
