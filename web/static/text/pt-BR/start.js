// @ts-check
// The first evening: setting chatguard up, connecting the bot, and enforcing the limits.

export default {
  // The checklist: its head, the steps, and how far they are
  title: "Primeiros passos",
  "all-done": "Tudo está configurado",
  count: "{done} de {all} concluídos",
  hide: "Ocultar a lista",
  connect: "Conectar o bot",
  moderator: "Torná-lo moderador",
  watch: "Ver o que aconteceria",
  enforce: "Aplicar os limites",
  todo: "a fazer",
  running: "em andamento",
  done: "feito",
  failed: "falhou",

  // The checklist: connect the bot
  "connect-about": "Para ler o chat não é preciso conta. Para agir sobre mensagens, o chatguard precisa de uma conta da Twitch que modere o canal.",
  "connect-it": "Conectar…",
  "connect-again": "Conectar de novo…",
  "connect-other": "Usar outra conta…",
  "ask-owner": "Peça ao dono deste painel para conectá-lo.",
  checking: "A Twitch está verificando o token.",
  connected: "Conectado como {account}.",
  "connected-instead": "Conectado como {account}, em vez de {replaced}.",

  // The checklist: make it a moderator
  "moderator-later": "Vem depois que o bot estiver conectado.",
  "moderator-how": "Digite isto no chat do canal, como dono dele:",
  "copy-command": "Copiar o comando",
  "open-chat": "Abrir o chat",
  "moderator-soon": "O chatguard percebe em segundos.",
  moderates: "{account} pode excluir mensagens e suspender usuários.",

  // The checklist: watch
  watching: { one: "Observando desde {time}: {n} mensagem.", many: "Observando desde {time}: {n} mensagens.", other: "Observando desde {time}: {n} mensagens." },
  "watching-would": {
    one: "Observando desde {time}: {n} mensagem, {observed} teriam sido limitadas.",
    many: "Observando desde {time}: {n} mensagens, {observed} teriam sido limitadas.",
    other: "Observando desde {time}: {n} mensagens, {observed} teriam sido limitadas.",
  },
  "see-limits": "Ver os limites",

  // The checklist: enforce
  "enforce-later": "Vem depois que o bot for moderador. Até lá ninguém é limitado.",
  observes: "Ninguém é limitado ainda: o chatguard só observa.",
  "enforce-open": "Aplicar…",
  "enforce-question": "A partir de agora, mensagens além dos limites são excluídas, e quem insiste recebe advertência ou suspensão. Você pode voltar atrás na página Limites. Aplicar agora?",
  "enforce-it": "Aplicar",
  "not-yet": "Ainda não",
  "enforced-said": "Os limites estão sendo aplicados.",
  enforced: "Há ação sobre mensagens além dos limites.",
  "enforced-later": "Ligado. O chatguard age assim que o bot for moderador.",

  // The dialog that connects the bot
  asking: "Pedindo um código à Twitch…",
  "new-code": "Pedir um novo código",
  continue: "Continuar",
  "open-how": "Abra a Twitch onde a {account} está conectada, aqui ou pelo QR code no celular. Confira se ela mostra este código e autorize.",
  "open-account": "conta do bot",
  "copy-code": "Copiar o código",
  "open-twitch": "Abrir a Twitch",
  qr: "QR code da página na Twitch",
  waiting: "Aguardando a Twitch. O código vale por mais {time}.",
  "bot-about": "A conta que você autorizar vira o bot. A sua própria também serve: nesse caso ninguém precisa torná-la moderadora.",
  "wrong-account": "Conta errada? Saia da Twitch, entre lá com a conta certa e conecte de novo.",
  "connect-another": "Conectar outra conta",

  // The guide to a client ID. Create, Manage and Client ID are words of a page that is in English.
  "client-about": "O chatguard usa um aplicativo seu da Twitch. Ele não custa nada, seu ID não é segredo, e você precisa dele só uma vez.",
  "client-open": "Abra {page} na Twitch. Serve qualquer conta sua com autenticação de dois fatores.",
  "client-fill": "Preencha o formulário e pressione Create:",
  "client-name": "qualquer um que esteja livre, como “chatguard de SEUCANAL”",
  "copy-field": "Copiar: {field}",
  "client-copy": "Pressione Manage ao lado do nome e copie o Client ID.",
  "client-id": "Client ID",
  "wrong-client": "Um client ID tem só letras e dígitos, em geral 30. Copie de novo.",

  // The setup page
  "first-about": "O chatguard começa observando seu canal. Ninguém é limitado até você mandar.",
  channel: "Canal da Twitch",
  "channel-hint": "seucanal, ou twitch.tv/seucanal",
  "wrong-channel": "Digite o nome do canal como em twitch.tv/nome: até 25 letras, dígitos e _.",
  zone: "Fuso horário",
  "zone-about": "Os limites diários reiniciam à meia-noite de lá.",
  "wrong-zone": "Digite um fuso horário como America/Sao_Paulo.",
  application: "Aplicativo da Twitch",
  "application-optional": "opcional, pode vir depois",
  "application-about": "Para agir sobre mensagens, o chatguard precisa do client ID de um aplicativo seu da Twitch. Não custa nada e não é segredo.",
  begin: "Começar a observar",
  starting: "Iniciando…",
  writes: "Isto grava chatguard.toml na pasta em que você iniciou o chatguard.",
};
